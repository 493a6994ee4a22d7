// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/sets"
)

// process is one process of a container, as the kernel shows it to the node.
type process struct {
	pid, parent, session int
	// age is how long ago it was started.
	age time.Duration
}

// ticksPerSecond is the unit of times in /proc, the same on all Linux machines.
const ticksPerSecond = 100

// commandsSince finds the sessions of the commands that the runtime has started in
// the container within that time. A session is known by its leader; that it was
// started from outside shows in a parent that is not in the container.
func commandsSince(all []process, within time.Duration) sets.Set[int] {
	inside := sets.New[int]()
	for _, p := range all {
		inside.Insert(p.pid)
	}
	sessions := sets.New[int]()
	for _, p := range all {
		if p.pid == p.session && !inside.Has(p.parent) && p.age <= within {
			sessions.Insert(p.session)
		}
	}
	return sessions
}

// leftovers are the processes of sessions whose leader is gone.
func leftovers(all []process, sessions sets.Set[int]) []int {
	leaders := sets.New[int]()
	for _, p := range all {
		leaders.Insert(p.pid)
	}
	var pids []int
	for _, p := range all {
		if sessions.Has(p.session) && !leaders.Has(p.session) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// readProcesses leaves out those that have ended since they were listed.
func readProcesses(pids []int) ([]process, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return nil, fmt.Errorf("time since the machine's start: %w", err)
	}
	var all []process
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue
		}
		var p process
		if err == nil {
			p, err = parseStat(stat, time.Duration(now.Nano()))
		}
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", pid, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// parseStat reads what follows a process's name, which may hold anything; see
// proc_pid_stat(5).
func parseStat(stat []byte, sinceBoot time.Duration) (process, error) {
	var p process
	var state, skip string
	var started int64
	nameEnd := bytes.LastIndexByte(stat, ')')
	if nameEnd < 0 {
		return p, errors.New("a status without a name")
	}
	if _, err := fmt.Sscan(string(stat), &p.pid); err != nil {
		return p, fmt.Errorf("its number: %w", err)
	}
	fields := []any{&state, &p.parent, &skip, &p.session}
	for range 15 { // the 7th to the 21st
		fields = append(fields, &skip)
	}
	if _, err := fmt.Sscan(string(stat[nameEnd+1:]), append(fields, &started)...); err != nil {
		return p, fmt.Errorf("its status: %w", err)
	}
	p.age = sinceBoot - time.Duration(started)*time.Second/ticksPerSecond
	return p, nil
}
