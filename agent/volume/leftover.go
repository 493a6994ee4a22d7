// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/internal/mounts"
)

// Leftover is a volume in memory of a pod that is gone, which others keep: they have
// mounted it elsewhere, or have files of it open.
type Leftover struct {
	UID types.UID
	// Path is where the volume was.
	Path string
	// Mounted and HeldBy are the paths and processes that keep it.
	Mounted []string
	HeldBy  []string

	fs       mounts.FileSystem
	detached bool
}

// inMemory are the pod's volumes that are mounted in memory.
func (m *Manager) inMemory(uid types.UID) ([]Leftover, error) {
	list, err := mounts.Below(m.podDir(uid))
	if err != nil {
		return nil, err
	}
	var all []Leftover
	for _, own := range ownMounts(list) {
		if fs, err := mounts.FileSystemOf(own); err == nil {
			all = append(all, Leftover{UID: uid, Path: own.Mountpoint, fs: fs})
		}
	}
	return all, nil
}

// ownMounts picks, of the mounts below a pod's directory, those whose content is that
// of a volume alone: the undermost at a place. What is above it is another's.
func ownMounts(newestFirst []*mountinfo.Info) []*mountinfo.Info {
	places := map[string]*mountinfo.Info{}
	for _, m := range newestFirst {
		places[m.Mountpoint] = m
	}
	var own []*mountinfo.Info
	for path, m := range places {
		isVolume := filepath.Base(filepath.Dir(filepath.Dir(path))) == volumesName && m.Root == "/"
		if isVolume && (m.FSType == tmpfs.kind || m.FSType == hugetlbfs.kind) {
			own = append(own, m)
		}
	}
	slices.SortFunc(own, func(a, b *mountinfo.Info) int { return strings.Compare(a.Mountpoint, b.Mountpoint) })
	return own
}

// noteLeft remembers those that others keep, as far as can be told at once.
func (m *Manager) noteLeft(all []Leftover) {
	all = slices.DeleteFunc(all, func(l Leftover) bool {
		elsewhere, err := l.fs.Mounted()
		elsewhere = slices.DeleteFunc(elsewhere, l.isInPod)
		return err == nil && len(elsewhere) == 0 && !l.detached
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range all {
		if !slices.ContainsFunc(m.left, func(old Leftover) bool { return old.fs == l.fs }) {
			m.left = append(m.left, l)
		}
	}
}

// isInPod tells whether a path is in the directory of the leftover's pod.
func (l Leftover) isInPod(path string) bool {
	pod, _, _ := strings.Cut(l.Path, "/"+volumesName+"/")
	return strings.HasPrefix(path, pod+"/")
}

// Leftovers looks for what others keep of the volumes of pods that are gone, and forgets
// what they do not keep any more. It knows of what this run of the agent took down.
func (m *Manager) Leftovers() []Leftover {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = slices.DeleteFunc(m.left, func(l Leftover) bool { return !l.isKept() })
	kept := slices.Clone(m.left)
	for i := range kept {
		kept[i].Mounted, _ = kept[i].fs.Mounted()
		kept[i].HeldBy = kept[i].fs.HeldBy()
	}
	return kept
}

func (l Leftover) isKept() bool {
	mounted, err := l.fs.Mounted()
	return err != nil || len(mounted) > 0 || len(l.fs.HeldBy()) > 0
}
