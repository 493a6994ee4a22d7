// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
)

// What a pod's fsGroup may do in its volumes, as the kubelet has it. Directories hand
// their group on to what is made in them.
const (
	groupReads  fs.FileMode = 0o440
	groupWrites fs.FileMode = 0o660
	groupEnters             = 0o110 | fs.ModeSetgid
)

// dirMode is a volume's own directory: its permissions, and its group if it has one.
type dirMode struct {
	mode fs.FileMode
	gid  *int64
}

// owned is a directory for the pod's group to use.
func owned(pod *corev1.Pod, mode, access fs.FileMode) dirMode {
	sc := pod.Spec.SecurityContext
	if sc == nil || sc.FSGroup == nil {
		return dirMode{mode: mode}
	}
	return dirMode{mode | access | groupEnters, sc.FSGroup}
}

// options make it the root of a file system that is being mounted.
func (d dirMode) options() string {
	options := fmt.Sprintf("mode=%o", unixMode(d.mode))
	if d.gid != nil {
		options += fmt.Sprintf(",gid=%d", *d.gid)
	}
	return options
}

func unixMode(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	if m&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}

// readableBy lets the group of a volume's directory read its files, which have that group
// from the directory.
func (d dirMode) readableBy(files payload) {
	if d.gid == nil {
		return
	}
	for name, f := range files {
		f.mode |= groupReads
		files[name] = f
	}
}
