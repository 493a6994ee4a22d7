// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// fileKey returns the variable that a fileKeyRef names, from a file that the pod's
// containers wrote into a volume. Its errors tell nothing of the node: what the file
// leads to is the containers' doing.
func fileKey(volumes map[string]podtypes.Volume, ref *corev1.FileKeySelector) (string, bool, error) {
	optional := ref.Optional != nil && *ref.Optional
	file := fmt.Sprintf("file %q of volume %q", ref.Path, ref.VolumeName)
	content, err := readVolumeFile(volumes, ref)
	switch {
	case errors.Is(err, fs.ErrNotExist) && optional:
		return "", false, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", false, fmt.Errorf("%s not found", file)
	case err != nil:
		return "", false, fmt.Errorf("%s: %w", file, err)
	}
	value, ok, err := lookUpEnvFile(content, ref.Key)
	switch {
	case err != nil:
		return "", false, fmt.Errorf("%s: %w", file, err)
	case !ok && !optional:
		return "", false, fmt.Errorf("%s has no key %q", file, ref.Key)
	}
	return value, ok, nil
}

// readVolumeFile reads a regular file below the volume. Links lead nowhere else, and
// nothing that the path may name makes the reading wait.
func readVolumeFile(volumes map[string]podtypes.Volume, ref *corev1.FileKeySelector) (string, error) {
	volume, ok := volumes[ref.VolumeName]
	if !ok {
		return "", errors.New("the volume is not mounted on the node")
	}
	root, err := os.OpenRoot(volume.HostPath)
	if err != nil {
		return "", errors.New("the volume cannot be opened")
	}
	defer root.Close()
	f, err := root.OpenFile(ref.Path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", errors.Unwrap(err)
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return "", errors.Unwrap(err)
	case !info.Mode().IsRegular():
		return "", errors.New("not a regular file")
	}
	content, err := io.ReadAll(io.LimitReader(f, maxStrings+1))
	if err == nil && len(content) > maxStrings {
		err = fmt.Errorf("larger than %d KiB", maxStrings>>10)
	}
	return string(content), err
}

// lookUpEnvFile finds a key in the text of an environment file. The first of two of a
// name counts; what is wrong before it is an error.
func lookUpEnvFile(text, key string) (value string, ok bool, err error) {
	rest := text
	for {
		if rest = skipComments(rest); rest == "" {
			return "", false, nil
		}
		name, value, after, err := cutAssignment(rest)
		switch {
		case err != nil:
			line := 1 + strings.Count(text[:len(text)-len(rest)], "\n")
			return "", false, fmt.Errorf("line %d: %w", line, err)
		case name == key:
			return value, true, nil
		}
		rest = after
	}
}

// skipComments leaves out blank lines, lines that begin with #, and the blanks before
// a name.
func skipComments(text string) string {
	for {
		if text = strings.TrimLeft(text, " \t\r\n"); !strings.HasPrefix(text, "#") {
			return text
		}
		_, text, _ = strings.Cut(text, "\n")
	}
}

// cutAssignment reads NAME='value' with the rest of its line, in which there may be a
// comment. The value goes on to the next quote, over lines if need be, and stands for
// itself.
func cutAssignment(text string) (name, value, after string, err error) {
	name, rest, found := strings.Cut(text, "='")
	if !found || name == "" || strings.ContainsAny(name, "= \t\r\n") {
		return "", "", "", errors.New("want NAME='value'")
	}
	value, rest, found = strings.Cut(rest, "'")
	if !found {
		return "", "", "", fmt.Errorf("the value of %s has no closing quote", name)
	}
	tail, after, _ := strings.Cut(rest, "\n")
	if tail = strings.TrimSpace(tail); tail != "" && !strings.HasPrefix(tail, "#") {
		return "", "", "", fmt.Errorf("text after the value of %s", name)
	}
	return name, value, after, nil
}
