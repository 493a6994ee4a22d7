// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podtypes"
)

// subPathsName is, in a pod's directory, where parts of volumes are mounted:
//
//	<pods>/<uid>/volume-subpaths/<volume>/<container>/<number of the mount>
const subPathsName = "volume-subpaths"

// SubPath mounts a part of one of the pod's volumes at a place that only the node can
// reach, and returns the place: what containers exchange in the volume after that, or
// during it, does not change what is mounted there. What was mounted for a former
// instance of the container gives way.
func (m *Manager) SubPath(uid types.UID, part podtypes.SubPath) (string, error) {
	volume, ok := m.Volumes(uid)[part.Volume]
	if !ok {
		return "", fmt.Errorf("volume %q is not mounted on the node", part.Volume)
	}
	source, err := openPart(volume.HostPath, part.Path)
	if err != nil {
		return "", err
	}
	defer source.Close()
	target := filepath.Join(m.podDir(uid), subPathsName, part.Volume, part.Container, strconv.Itoa(part.Mount))
	return target, bindFile(source, target)
}

// openPart opens a part of a volume. The runtime makes the directory of a hostPath
// volume that is missing, and so does this.
func openPart(volume, path string) (*os.File, error) {
	root, err := openRoot(volume)
	if errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(volume, 0o755); err != nil {
			return nil, err
		}
		root, err = openRoot(volume)
	}
	if err != nil {
		return nil, fmt.Errorf("the volume: %w", err)
	}
	defer root.Close()
	return openOrMake(root, path)
}

// bindFile mounts an open file or directory at target, in place of what was there.
func bindFile(source *os.File, target string) error {
	var want unix.Stat_t
	if err := unix.Fstat(int(source.Fd()), &want); err != nil {
		return &os.PathError{Op: "stat", Path: source.Name(), Err: err}
	}
	if err := makeTarget(target, want.Mode&unix.S_IFMT == unix.S_IFDIR); err != nil {
		return err
	}
	if err := unix.Mount(fdPath(source), target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %q to %s: %w", source.Name(), target, err)
	}
	var got unix.Stat_t
	if err := unix.Lstat(target, &got); err != nil {
		return &os.PathError{Op: "stat", Path: target, Err: err}
	}
	if got.Dev != want.Dev || got.Ino != want.Ino {
		return errors.Join(fmt.Errorf("%s does not show %q", target, source.Name()), unix.Unmount(target, unix.MNT_DETACH))
	}
	return nil
}

// makeTarget makes the empty file or directory to mount at. Containers have mounts of
// their own of what was mounted there before.
func makeTarget(target string, dir bool) error {
	for unix.Unmount(target, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) == nil {
		continue
	}
	if err := os.Remove(target); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if dir {
		return os.MkdirAll(target, 0o750)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return err
	}
	f, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	return f.Close()
}
