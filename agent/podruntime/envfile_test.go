// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/podtypes"
)

func TestLookUpEnvFile(t *testing.T) {
	for name, tt := range map[string]struct {
		text, want string
		absent     bool
		err        string
	}{
		"first line":         {text: "KEY='value'", want: "value"},
		"empty":              {text: "KEY=''\n", want: ""},
		"among others":       {text: "A='1'\n\n  # note\n\tKEY='value'\nB='2'\n", want: "value"},
		"stands for itself":  {text: `KEY='$(A) "\n" = #'`, want: `$(A) "\n" = #`},
		"over lines":         {text: "KEY='one\n\n two' # note\nA='1'", want: "one\n\n two"},
		"the first counts":   {text: "KEY='1'\nKEY='2'\n", want: "1"},
		"carriage returns":   {text: "A='1'\r\nKEY='2'\r\n", want: "2"},
		"absent":             {text: "KEYS='1'\n", absent: true},
		"no lines":           {text: "", absent: true},
		"wrong after it":     {text: "KEY='1'\nA=2\n", want: "1"},
		"wrong before it":    {text: "\nA=2\nKEY='1'\n", err: "line 2: want NAME='value'"},
		"spaces":             {text: "KEY = '1'\n", err: "line 1: want NAME='value'"},
		"no name":            {text: "='1'\n", err: "line 1: want NAME='value'"},
		"double quotes":      {text: "KEY=\"1\"\n", err: "line 1: want NAME='value'"},
		"no closing quote":   {text: "KEY='1\nA=2", err: "line 1: the value of KEY has no closing quote"},
		"text after a value": {text: "A='1\n2'\nKEY='1'2\n", err: "line 3: text after the value of KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok, err := lookUpEnvFile(tt.text, "KEY")
			if err != nil || tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if got != tt.want || ok == tt.absent {
				t.Errorf("got %q, %v; want %q, %v", got, ok, tt.want, !tt.absent)
			}
		})
	}
}

// What a container put into a volume leads to nothing outside, and holds nothing up.
func TestFileKeyStaysInItsVolume(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "secret"), "KEY='outside'\n")
	write(t, filepath.Join(dir, "v", "sub", "env"), "KEY='inside'\n")
	write(t, filepath.Join(dir, "v", "large"), strings.Repeat("#", maxStrings+1))
	for link, target := range map[string]string{"link": "sub/env", "out": "../secret", "absolute": "/etc/passwd"} {
		if err := os.Symlink(target, filepath.Join(dir, "v", link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(dir, "v", "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	volumes := map[string]podtypes.Volume{"v": {HostPath: filepath.Join(dir, "v")}}
	for path, want := range map[string]string{
		"sub/env": "inside", "link": "inside",
		"out": "", "../secret": "", "absolute": "", "fifo": "", "sub": "", "large": "", "absent": "",
	} {
		got, ok, err := fileKey(volumes, &corev1.FileKeySelector{VolumeName: "v", Path: path, Key: "KEY"})
		if got != want || ok != (want != "") || (err == nil) != ok {
			t.Errorf("%s: got %q, %v, %v; want %q", path, got, ok, err, want)
		}
		if err != nil && strings.Contains(err.Error(), dir) {
			t.Errorf("%s: the error tells of the node: %v", path, err)
		}
	}
}

func TestFileKeyThatIsOptional(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "env"), "KEY='1'\n")
	volumes := map[string]podtypes.Volume{"v": {HostPath: dir}}
	for name, ref := range map[string]*corev1.FileKeySelector{
		"the file": {VolumeName: "v", Path: "absent", Key: "KEY"},
		"the key":  {VolumeName: "v", Path: "env", Key: "ABSENT"},
	} {
		if got, ok, err := fileKey(volumes, ref); err == nil {
			t.Errorf("%s: got %q, %v; want an error", name, got, ok)
		}
		ref.Optional = ptr.To(true)
		if got, ok, err := fileKey(volumes, ref); ok || err != nil {
			t.Errorf("%s, optional: got %q, %v, %v; want it left out", name, got, ok, err)
		}
	}
}
