// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
)

// checkHostPath makes the path where its type says so, and otherwise checks that
// it is of its type. A path without a type is not looked at: the runtime makes a
// directory of what is missing.
func checkHostPath(source *corev1.HostPathVolumeSource) error {
	want := corev1.HostPathUnset
	if source.Type != nil {
		want = *source.Type
	}
	switch want {
	case corev1.HostPathUnset:
		return nil
	case corev1.HostPathDirectoryOrCreate:
		if err := os.MkdirAll(source.Path, 0o755); err != nil {
			return err
		}
		want = corev1.HostPathDirectory
	case corev1.HostPathFileOrCreate:
		if err := touch(source.Path); err != nil {
			return err
		}
		want = corev1.HostPathFile
	}
	info, err := os.Stat(source.Path)
	if err != nil {
		return fmt.Errorf("hostPath type check failed: %w", err)
	}
	if have := typeOf(info.Mode()); have != want {
		return fmt.Errorf("hostPath type check failed: %s is a %s, not a %s", source.Path, have, want)
	}
	return nil
}

func touch(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func typeOf(mode fs.FileMode) corev1.HostPathType {
	switch {
	case mode.IsDir():
		return corev1.HostPathDirectory
	case mode.IsRegular():
		return corev1.HostPathFile
	case mode&fs.ModeSocket != 0:
		return corev1.HostPathSocket
	case mode&fs.ModeCharDevice != 0:
		return corev1.HostPathCharDev
	case mode&fs.ModeDevice != 0:
		return corev1.HostPathBlockDev
	}
	return corev1.HostPathType(mode.Type().String())
}
