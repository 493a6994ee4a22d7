// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestHostPathTypes(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("file"), "")
	listener, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	link(t, "file", at("link"))
	for name, tc := range map[string]struct {
		path string
		kind corev1.HostPathType
		want string
	}{
		"no type, nothing there":        {at("x"), corev1.HostPathUnset, ""},
		"a directory":                   {dir, corev1.HostPathDirectory, ""},
		"no directory":                  {at("file"), corev1.HostPathDirectory, "hostPath type check failed: " + at("file") + " is not a directory"},
		"nothing there":                 {at("x"), corev1.HostPathDirectory, "hostPath type check failed: " + at("x") + " is not a directory"},
		"a new directory":               {at("new/dir"), corev1.HostPathDirectoryOrCreate, ""},
		"no new directory over a file":  {at("file"), corev1.HostPathDirectoryOrCreate, "is not a directory"},
		"a file":                        {at("file"), corev1.HostPathFile, ""},
		"a file by a link":              {at("link"), corev1.HostPathFile, ""},
		"no file":                       {dir, corev1.HostPathFile, "is not a file"},
		"a new file":                    {at("newfile"), corev1.HostPathFileOrCreate, ""},
		"no new file without directory": {at("none/file"), corev1.HostPathFileOrCreate, "no such file or directory"},
		"a socket":                      {at("socket"), corev1.HostPathSocket, ""},
		"no socket":                     {at("file"), corev1.HostPathSocket, "is not a socket file"},
		"a character device":            {"/dev/null", corev1.HostPathCharDev, ""},
		"no character device":           {at("file"), corev1.HostPathCharDev, "is not a character device"},
		"no block device":               {"/dev/null", corev1.HostPathBlockDev, "is not a block device"},
		"unknown":                       {dir, "Drawer", "Drawer is an invalid volume type"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkHostPath(&corev1.HostPathVolumeSource{Path: tc.path, Type: &tc.kind})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	for name, mode := range map[string]os.FileMode{"new/dir": os.ModeDir | 0o755, "newfile": 0o644} {
		if info, err := os.Stat(at(name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
