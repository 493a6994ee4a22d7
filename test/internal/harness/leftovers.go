// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/berth-run/berth/agent"
)

// Leftovers lists what of the node is left on the machine: processes, mounts,
// links, cgroups, firewall rules and its run directory.
func (n *Node) Leftovers() []string {
	var out []string
	for _, find := range []func() []string{n.processes, n.mounts, n.links, n.cgroups, n.rules, n.runDir} {
		out = append(out, find()...)
	}
	return out
}

func (n *Node) processes() []string {
	var out []string
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		pid := filepath.Base(filepath.Dir(path))
		if pid == strconv.Itoa(os.Getpid()) {
			continue
		}
		content, _ := os.ReadFile(path)
		line := string(bytes.ReplaceAll(content, []byte{0}, []byte{' '}))
		if strings.Contains(line, n.ID) || strings.Contains(line, n.StateDir) {
			out = append(out, "process "+pid+": "+line)
		}
	}
	return out
}

func (n *Node) mounts() []string {
	var out []string
	content, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(content)) {
		if strings.Contains(line, n.StateDir+"/") || strings.Contains(line, agent.RunDir(n.StateDir)) {
			out = append(out, "mount "+strings.TrimSpace(line))
		}
	}
	return out
}

func (n *Node) links() []string { return existing("/sys/class/net/*" + n.ID + "*") }

func (n *Node) cgroups() []string {
	return append(existing("/sys/fs/cgroup/*"+n.ID+"*"), existing("/sys/fs/cgroup/*/*"+n.ID+"*")...)
}

func (n *Node) runDir() []string { return existing(agent.RunDir(n.StateDir)) }

func (n *Node) rules() []string {
	var out []string
	saved, err := exec.Command("iptables-save").Output()
	if err != nil {
		return nil // no rule without iptables
	}
	for line := range strings.Lines(string(saved)) {
		if strings.Contains(line, n.ID) {
			out = append(out, "rule "+strings.TrimSpace(line))
		}
	}
	return out
}

func existing(pattern string) []string {
	found, _ := filepath.Glob(pattern)
	return found
}
