// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/berth-run/berth/internal/mounts"
)

// orphan is a shim that containerd does not know, with what it holds of the machine.
type orphan struct {
	shim entry
	// ids are the sandbox's, which is also the shim's, and those of containers.
	ids     map[string]bool
	cgroups map[string]bool
	// networks are the inodes of network namespaces.
	networks map[uint64]bool
}

// containerCgroup finds the container's cgroup below the node's; a container may have
// made others below it.
var containerCgroup = regexp.MustCompile(`^(?:/[^/]+)+?/([0-9a-f]{64})(?:/|$)`)

// endOrphan kills a shim and all that it runs, and takes back what they held. A shim
// of a container that containerd does know is left alone.
func (r *Runtime) endOrphan(ctx context.Context, shim entry, known map[string]bool) error {
	o := r.inspectOrphan(shim, descendants(listProcesses(), shim.PID))
	for id := range o.ids {
		if known[id] {
			return nil
		}
	}
	r.log.Warn("containerd does not know a shim; it is ended", "pid", shim.PID, "sandbox", shim.flag("-id"), "containers", len(o.ids)-1)
	if err := kill(ctx, shim); err != nil {
		return err
	}
	return r.cleanUpAfter(ctx, o)
}

func (r *Runtime) inspectOrphan(shim entry, processes []entry) orphan {
	o := orphan{shim: shim, ids: map[string]bool{shim.flag("-id"): true}, cgroups: map[string]bool{}, networks: map[uint64]bool{}}
	for _, p := range processes {
		dir := filepath.Join("/proc", strconv.Itoa(p.PID))
		text, _ := os.ReadFile(filepath.Join(dir, "cgroup")) // it may have ended
		for line := range bytes.Lines(text) {
			o.addCgroup(r.CgroupRoot(), string(line))
		}
		var ns unix.Stat_t
		if unix.Stat(filepath.Join(dir, "ns", "net"), &ns) == nil {
			o.networks[ns.Ino] = true
		}
	}
	return o
}

// addCgroup reads a line of /proc/<pid>/cgroup.
func (o *orphan) addCgroup(root, line string) {
	parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
	if len(parts) != 3 || !strings.HasPrefix(parts[2], root+"/") {
		return
	}
	if m := containerCgroup.FindStringSubmatch(parts[2]); m != nil {
		o.ids[m[1]] = true
		o.cgroups[strings.TrimSuffix(m[0], "/")] = true
	}
}

// kill kills all that descends from a shim, and then itself: it is the one to whom
// what they fork is handed down.
func kill(ctx context.Context, shim entry) error {
	ctx, cancel := context.WithTimeout(ctx, killTimeout)
	defer cancel()
	return poll(ctx, func() (bool, error) {
		victims := descendants(listProcesses(), shim.PID)
		if len(victims) == 0 && shim.alive() {
			victims = []entry{shim}
		}
		for _, v := range victims {
			v.kill()
		}
		return len(victims) == 0, nil
	})
}

// cleanUpAfter takes back what a killed shim and its containers held.
func (r *Runtime) cleanUpAfter(ctx context.Context, o orphan) error {
	var errs []error
	for cgroup := range o.cgroups {
		errs = append(errs, removeCgroups(cgroup))
	}
	errs = append(errs, r.removeNetworkNamespaces(o.networks))
	for id := range o.ids {
		errs = append(errs, r.removeContainerState(id))
	}
	return errors.Join(append(errs, r.releaseNetwork(ctx, o.shim.flag("-id")))...)
}

// removeContainerState removes a container's bundle, its mounts, and runc's record.
func (r *Runtime) removeContainerState(id string) error {
	dirs, _ := filepath.Glob(filepath.Join(r.stateDir(), "*", "*", id))
	dirs = append(dirs, filepath.Join(r.cfg.RunDir, "runc", criNamespace, id))
	var errs []error
	for _, dir := range dirs {
		err := mounts.UnmountBelow(dir, unix.MNT_DETACH)
		if err == nil { // nothing is removed behind a mount
			err = os.RemoveAll(dir)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// removeNetworkNamespaces removes those of the node's that have the inodes, and with
// them the interfaces.
func (r *Runtime) removeNetworkNamespaces(inodes map[uint64]bool) error {
	files, _ := filepath.Glob(filepath.Join(r.stateDir(), "*", "netns", "*"))
	var errs []error
	for _, file := range files {
		var ns unix.Stat_t
		if unix.Stat(file, &ns) != nil || !inodes[ns.Ino] {
			continue
		}
		if err := mounts.UnmountBelow(file, unix.MNT_DETACH); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, os.Remove(file))
	}
	return errors.Join(errs...)
}
