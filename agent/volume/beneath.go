// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// maxResolves bounds how often a path is resolved anew that others change meanwhile.
const maxResolves = 100

// openRoot opens a directory, to resolve paths beneath it.
func openRoot(dir string) (*os.File, error) {
	return openPath(unix.AT_FDCWD, dir, unix.O_DIRECTORY)
}

// openPath opens what is at a path of one step, without its content.
func openPath(dir int, name string, flags int) (*os.File, error) {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// openBeneath opens what the path leads to beneath root, without its content. Symbolic
// links are followed as long as they stay beneath it: the kernel sees to that, whatever
// is exchanged meanwhile.
func openBeneath(root *os.File, name string) (*os.File, error) {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
	for range maxResolves {
		fd, err := unix.Openat2(int(root.Fd()), name, how)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), name), nil
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EXDEV):
			return nil, fmt.Errorf("%q leads out of the volume", name)
		}
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return nil, fmt.Errorf("%q is being changed all the time", name)
}

// openOrMake opens what the path leads to beneath root, and makes the directories that
// are missing, with the mode and group of root.
func openOrMake(root *os.File, name string) (*os.File, error) {
	f, err := openBeneath(root, name)
	if !errors.Is(err, os.ErrNotExist) {
		return f, err
	}
	if err := makeBeneath(root, name); err != nil {
		return nil, err
	}
	return openBeneath(root, name)
}

// makeBeneath makes the directories of the path that are missing.
func makeBeneath(root *os.File, name string) error {
	var top unix.Stat_t
	if err := unix.Fstat(int(root.Fd()), &top); err != nil {
		return fmt.Errorf("stat of the volume: %w", err)
	}
	above := "."
	for step := range strings.SplitSeq(path.Clean(name), "/") {
		parent, err := openBeneath(root, above)
		if err != nil {
			return err
		}
		err = makeDirAt(parent, step, top.Mode&0o7777)
		parent.Close()
		if err != nil {
			return err
		}
		above = path.Join(above, step)
	}
	return nil
}

// makeDirAt leaves what is there as it is.
func makeDirAt(parent *os.File, name string, mode uint32) error {
	switch err := unix.Mkdirat(int(parent.Fd()), name, mode); {
	case errors.Is(err, unix.EEXIST):
		return nil
	case err != nil:
		return &os.PathError{Op: "mkdir", Path: name, Err: err}
	}
	made, err := openPath(int(parent.Fd()), name, unix.O_NOFOLLOW|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer made.Close()
	return os.Chmod(fdPath(made), os.FileMode(mode&0o777)|setgid(mode)) // whatever the umask is
}

func setgid(mode uint32) os.FileMode {
	if mode&unix.S_ISGID == 0 {
		return 0
	}
	return os.ModeSetgid
}

// fdPath is a path to an open file, wherever its names lead to by now.
func fdPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
