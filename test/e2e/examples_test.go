// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// example is how a user tries one, and what is to be seen then.
type example struct {
	before []step
	apply  step // unless it is kubectl apply
	see    []step
}

// examples are those of all areas, by their file.
var examples = merged(lifeExamples, probeExamples, configExamples, volumeExamples, resourceExamples)

func merged(areas ...map[string]example) map[string]example {
	all := map[string]example{}
	for _, area := range areas {
		maps.Copy(all, area)
	}
	return all
}

// Every example does what its first lines say, with the kubectl that users have.
func TestExamples(t *testing.T) {
	t.Parallel()
	files := exampleFiles(t)
	for file := range examples {
		if !slices.Contains(files, file) {
			t.Errorf("there is no examples/%s", file)
		}
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			e, ok := examples[file]
			if !ok {
				t.Fatalf("nothing tells what examples/%s does", file)
			}
			e.try(newUser(t), file)
		})
	}
}

func exampleFiles(t *testing.T) (files []string) {
	for _, pattern := range []string{"*.yaml", "*.json"} {
		for _, path := range match(t, filepath.Join(suite.Root, "examples", pattern)) {
			files = append(files, filepath.Base(path))
		}
	}
	return files
}

func (e *example) try(u *user, file string) {
	apply := e.apply
	if apply == nil {
		apply = does("apply", "-f", filepath.Join("examples", file))
	}
	for _, do := range slices.Concat(e.before, []step{apply}, e.see) {
		do(u)
	}
}
