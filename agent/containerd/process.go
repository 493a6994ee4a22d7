// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process identifies one process for as long as the machine is up. A pid alone is
// given again to another process.
type process struct {
	PID int `json:"pid"`
	// StartTime is in clock ticks since boot, as in /proc/<pid>/stat.
	StartTime uint64 `json:"startTime"`
	// Executable is the path that was started; it may have been replaced since.
	Executable string `json:"executable"`
}

// entry is a live process as a listing shows it.
type entry struct {
	process
	parent int
	args   []string
}

// inspect reads one live process. It fails for a zombie and for a kernel thread.
func inspect(pid int) (entry, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	line, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return entry{}, err
	}
	stat, err := parseStat(line)
	if err != nil {
		return entry{}, err
	}
	if stat.state == 'Z' || stat.state == 'X' {
		return entry{}, fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
	}
	exe, err := os.Readlink(filepath.Join(dir, "exe"))
	if err != nil {
		return entry{}, err
	}
	cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return entry{}, err
	}
	return entry{
		process: process{PID: pid, StartTime: stat.startTime, Executable: strings.TrimSuffix(exe, " (deleted)")},
		parent:  stat.parent,
		args:    strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00"),
	}, nil
}

// listProcesses lists the live processes of the machine.
func listProcesses() []entry {
	var list []entry
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if e, err := inspect(pid); err == nil {
			list = append(list, e)
		}
	}
	return list
}

// withDescendants are the processes that are picked, and all that descends from them.
func withDescendants(all []entry, picked func(entry) bool) []entry {
	children := map[int][]entry{}
	var list []entry
	for _, e := range all {
		children[e.parent] = append(children[e.parent], e)
		if picked(e) {
			list = append(list, e)
		}
	}
	seen := map[int]bool{}
	for i := 0; i < len(list); i++ {
		if pid := list[i].PID; !seen[pid] {
			seen[pid] = true
			list = append(list, children[pid]...)
		}
	}
	return list
}

// descendants are all that descends from a process, without itself.
func descendants(all []entry, pid int) []entry {
	return withDescendants(all, func(e entry) bool { return e.parent == pid })
}

// flag is the argument that follows a flag; empty if there is none.
func (e entry) flag(name string) string {
	at := slices.Index(e.args, name)
	if at < 0 || at+1 >= len(e.args) {
		return ""
	}
	return e.args[at+1]
}

// variable is a variable of the environment that the process was started with; empty
// if there is none.
func (p process) variable(name string) string {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "environ")) // it may have ended
	for v := range strings.SplitSeq(string(text), "\x00") {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// kill kills that very process, unless it has ended.
func (p process) kill() {
	if h, err := p.open(); err == nil {
		_ = h.signal(unix.SIGKILL)
		h.close()
	}
}

// alive tells whether that very process still runs.
func (p process) alive() bool {
	if p.PID <= 1 {
		return false
	}
	now, err := inspect(p.PID)
	return err == nil && now.process == p
}

// stale tells whether the executable was replaced since the process started.
func (p process) stale() bool {
	running, err := os.Stat(filepath.Join("/proc", strconv.Itoa(p.PID), "exe"))
	if err != nil {
		return false
	}
	installed, err := os.Stat(p.Executable)
	return err == nil && !os.SameFile(running, installed)
}

// procStat is what is used of /proc/<pid>/stat.
type procStat struct {
	state     byte
	parent    int
	startTime uint64
}

// parseStat reads a /proc/<pid>/stat line; see proc_pid_stat(5). The program's name,
// in brackets, may itself hold spaces and brackets.
func parseStat(line []byte) (procStat, error) {
	end := bytes.LastIndexByte(line, ')')
	fields := bytes.Fields(line[end+1:])
	// fields[0] is the third field of the line.
	if end < 0 || len(fields) < 20 || len(fields[0]) != 1 {
		return procStat{}, fmt.Errorf("malformed stat line %q", line)
	}
	parent, err := strconv.Atoi(string(fields[4-3]))
	if err != nil {
		return procStat{}, fmt.Errorf("malformed stat line %q: %w", line, err)
	}
	start, err := strconv.ParseUint(string(fields[22-3]), 10, 64)
	if err != nil {
		return procStat{}, fmt.Errorf("malformed stat line %q: %w", line, err)
	}
	return procStat{state: fields[0][0], parent: parent, startTime: start}, nil
}
