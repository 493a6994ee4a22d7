// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"

	"github.com/berth-run/berth/internal/mounts"
)

// killTimeout bounds the wait for killed processes to be gone.
const killTimeout = 10 * time.Second

// Stop ends containerd; pods run on. It fails while Run supervises the node, here or in
// another process.
func (r *Runtime) Stop(ctx context.Context) error {
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer unlock()
	return r.endContainerd(ctx)
}

func (r *Runtime) endContainerd(ctx context.Context) error {
	h, err := r.adopt()
	if err != nil {
		return nil
	}
	defer h.close()
	return h.end(ctx, termGrace)
}

// Teardown ends containerd and every pod at once, and removes all that the node took
// from the machine: processes, mounts, network, cgroups, and RunDir. Dir stays, with
// nothing mounted in it. It can be repeated, and fails while Run supervises the node.
func (r *Runtime) Teardown(ctx context.Context) error {
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer unlock()
	errs := []error{
		r.endContainerd(ctx),
		r.killPods(ctx),
		mounts.UnmountBelow(r.cfg.Dir, unix.MNT_DETACH),
		mounts.UnmountBelow(r.cfg.RunDir, unix.MNT_DETACH),
		r.RemoveNetwork(ctx),
		removeCgroups(r.CgroupRoot()),
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("node %s: %w", r.cfg.NodeID, err)
	}
	return os.RemoveAll(r.cfg.RunDir)
}

// killPods kills all processes of the node's pods and waits for their end.
func (r *Runtime) killPods(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, killTimeout)
	defer cancel()
	// A process may fork while it is looked for, so look again until none is left.
	return poll(ctx, func() (bool, error) {
		victims := r.podProcesses(listProcesses(), cgroupMembers(r.CgroupRoot()))
		for _, v := range victims {
			v.kill()
		}
		return len(victims) == 0, nil
	})
}

// podProcesses are the node's shims, what outlives them and containerd, the members of
// its cgroups, and all that descends from any of these.
func (r *Runtime) podProcesses(all []entry, members map[int]bool) []entry {
	return withDescendants(all, func(e entry) bool { return members[e.PID] || r.isShim(e) || r.isTool(e) })
}

// isShim recognises a shim of this node by its executable and containerd's address.
func (r *Runtime) isShim(e entry) bool {
	return filepath.Base(e.Executable) == filepath.Base(r.shim()) && e.flag("-address") == r.socket()
}

// isTool recognises what containerd and its shims start for this node, and what may go
// on when they are killed: runc by its root, CNI plugins by the network namespace.
func (r *Runtime) isTool(e entry) bool {
	switch filepath.Base(e.Executable) {
	case "runc":
		return strings.HasPrefix(e.flag("--root"), r.cfg.RunDir+"/")
	case "bridge", "host-local", "loopback", "portmap", "firewall":
		return strings.HasPrefix(e.variable("CNI_NETNS"), r.cfg.RunDir+"/")
	}
	return false
}

// cgroupMembers are the pids in the cgroup and below it, in any hierarchy.
func cgroupMembers(root string) map[int]bool {
	members := map[int]bool{}
	for _, dir := range cgroupDirs(root) {
		pids, _ := cgroups.GetAllPids(dir)
		for _, pid := range pids {
			members[pid] = true
		}
	}
	return members
}

// removeCgroups removes the cgroup from every hierarchy of version 1 and from version 2.
func removeCgroups(root string) error {
	var errs []error
	for _, dir := range cgroupDirs(root) {
		errs = append(errs, cgroups.RemovePath(dir))
	}
	return errors.Join(errs...)
}

func cgroupDirs(root string) []string {
	dirs, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup", "*", root))
	v2, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup", root))
	return append(dirs, v2...)
}
