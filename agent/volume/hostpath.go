// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	corev1 "k8s.io/api/core/v1"
)

// hostPathKind is what a type of hostPath wants to be there.
type hostPathKind struct {
	is   func(fs.FileMode) bool
	name string
	// make makes it where nothing is; nil if that is not wanted.
	make func(path string) error
}

var hostPathKinds = map[corev1.HostPathType]hostPathKind{
	corev1.HostPathDirectory:         {fs.FileMode.IsDir, "a directory", nil},
	corev1.HostPathDirectoryOrCreate: {fs.FileMode.IsDir, "a directory", func(path string) error { return os.MkdirAll(path, 0o755) }},
	corev1.HostPathFile:              {fs.FileMode.IsRegular, "a file", nil},
	corev1.HostPathFileOrCreate:      {fs.FileMode.IsRegular, "a file", makeFile},
	corev1.HostPathSocket:            {func(m fs.FileMode) bool { return m&fs.ModeSocket != 0 }, "a socket file", nil},
	corev1.HostPathCharDev:           {func(m fs.FileMode) bool { return m&fs.ModeCharDevice != 0 }, "a character device", nil},
	corev1.HostPathBlockDev:          {isBlockDevice, "a block device", nil},
}

func isBlockDevice(m fs.FileMode) bool { return m&fs.ModeDevice != 0 && m&fs.ModeCharDevice == 0 }

// checkHostPath makes the path where its type says so, and otherwise checks that
// it is of its type. A path without a type is not looked at: the runtime makes a
// directory of what is missing.
func checkHostPath(source *corev1.HostPathVolumeSource) error {
	if source.Type == nil || *source.Type == corev1.HostPathUnset {
		return nil
	}
	want, known := hostPathKinds[*source.Type]
	if !known {
		return fmt.Errorf("%s is an invalid volume type", *source.Type)
	}
	info, err := os.Stat(source.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && want.make != nil:
		return want.make(source.Path)
	case err == nil && want.is(info.Mode()):
		return nil
	}
	return fmt.Errorf("hostPath type check failed: %s is not %s", source.Path, want.name)
}

// makeFile makes an empty file. Its directory must be there.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}
