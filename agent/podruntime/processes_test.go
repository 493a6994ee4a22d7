// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
)

func TestCommandsAndLeftovers(t *testing.T) {
	const shim = 10
	all := []process{
		{pid: 100, parent: shim, session: 100, age: time.Hour},       // the container's own program
		{pid: 110, parent: 100, session: 110, age: time.Second},      // a daemon that it has started
		{pid: 120, parent: shim, session: 120, age: time.Second},     // a command
		{pid: 121, parent: 120, session: 120, age: time.Second},      // what that has started
		{pid: 130, parent: shim, session: 130, age: 3 * time.Second}, // an older command
		{pid: 141, parent: 100, session: 140, age: time.Second},      // left of a session that nobody knows
		{pid: 122, parent: 100, session: 120, age: time.Second / 2},  // the same, its parent gone
	}
	sessions := commandsSince(all, 2*time.Second)
	if !sessions.Equal(sets.New(120)) {
		t.Errorf("sessions %v, want that of 120", sets.List(sessions))
	}
	if left := leftovers(all, sessions); len(left) > 0 {
		t.Errorf("%v are taken for left over while their leader lives", left)
	}
	all = slices.DeleteFunc(all, func(p process) bool { return p.pid == 120 })
	if left := leftovers(all, sessions); !slices.Equal(left, []int{121, 122}) {
		t.Errorf("left over are %v, want 121 and 122", left)
	}
}

func TestReadProcesses(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	all, err := readProcesses([]int{pid})
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	if p := all[0]; p.pid != pid || p.session != pid || p.parent != os.Getpid() || p.age < 0 || p.age > time.Minute {
		t.Errorf("%+v", p)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if all, err := readProcesses([]int{pid}); err != nil || len(all) > 0 {
		t.Errorf("of one that has ended: %v, %v", all, err)
	}
}

func TestParseStatOfAnyName(t *testing.T) {
	const stat = "7 (a) S 1) (b) S 1 7 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 250 1 2"
	p, err := parseStat([]byte(stat), 4*time.Second)
	if want := (process{pid: 7, parent: 1, session: 5, age: 1500 * time.Millisecond}); err != nil || p != want {
		t.Errorf("%+v, %v; want %+v", p, err, want)
	}
	if _, err := parseStat([]byte("7 nothing"), 0); err == nil {
		t.Error("no error for a line that is none")
	}
}
