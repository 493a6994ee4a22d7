// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// The examples of what a pod is configured with do what they say.
func TestExamplesOfConfiguration(t *testing.T) {
	for file, want := range map[string]string{
		"security-context.yaml": "uid=1000(app) gid=3000",
		"names.yaml":            "10.1.2.3\tfoo.local\tbar.local",
		"env.yaml":              "URL=http://10.0.0.1/?mode=fast",
	} {
		t.Run(file, func(t *testing.T) {
			w := shared(t)
			content, err := os.ReadFile(filepath.Join(suite.Root, "examples", file))
			if err != nil {
				t.Fatal(err)
			}
			for _, document := range bytes.Split(content, []byte("\n---\n")) {
				p := &corev1.Pod{}
				if err := yaml.Unmarshal(document, p); err != nil {
					t.Fatal(err)
				}
				if p.Kind == "ConfigMap" {
					w.configMap("settings", map[string]string{"MODE": "fast"})
					continue
				}
				w.create(p)
				w.waitLog(p.Name, want)
			}
		})
	}
}
