// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berth-run/berth/internal/statedir"
)

// madeByAgent is the mark of a state directory.
const madeByAgent = "berth agent"

// What an agent keeps in its state directory.
const (
	podsName       = "pods"
	logsName       = "logs"
	containerdName = "containerd"
	storeIDName    = "store-id"
	pulledName     = "pulled"
)

func (c *Config) podsDir() string     { return filepath.Join(c.StateDir, podsName) }
func (c *Config) logsDir() string     { return filepath.Join(c.StateDir, logsName, "pods") }
func (c *Config) pulledDir() string   { return filepath.Join(c.StateDir, pulledName) }
func (c *Config) storeIDFile() string { return filepath.Join(c.StateDir, storeIDName) }

// seccompDir holds the user's seccomp profiles, and stays when the node is removed.
func (c *Config) seccompDir() string { return filepath.Join(c.StateDir, "seccomp") }

// registryCredentials is the file of the node's own logins. The one in the state
// directory is the user's, and stays when the node is removed.
func (c *Config) registryCredentials() string {
	return cmp.Or(c.RegistryCredentials, filepath.Join(c.StateDir, "config.json"))
}

func containerdDir(stateDir string) string {
	return filepath.Join(stateDir, containerdName)
}

// claimStateDir makes the state directory this agent's until it is closed. It is marked
// before anything else is made in it, so that it can be removed whenever the agent dies.
func (c *Config) claimStateDir() (*statedir.Dir, error) {
	d, err := statedir.Make(c.StateDir)
	if errors.Is(err, statedir.ErrInUse) {
		return nil, fmt.Errorf("state directory %s: another agent runs node %s, or it is being removed", c.StateDir, NodeID(c.StateDir))
	}
	if err == nil {
		if err = c.prepareStateDir(d); err == nil {
			return d, nil
		}
		d.Close()
	}
	return nil, fmt.Errorf("state %w", err)
}

func (c *Config) prepareStateDir(d *statedir.Dir) error {
	mark, err := d.ReadMark(madeByAgent)
	if errors.Is(err, statedir.ErrNotMarked) {
		err = refuseForeign(c.StateDir)
	}
	if err != nil {
		return err
	}
	mark.MadeBy = madeByAgent
	if e := c.RuntimeEndpoint; e != "" && !slices.Contains(mark.RuntimeEndpoints, e) {
		mark.RuntimeEndpoints = append(mark.RuntimeEndpoints, e)
	}
	if err := d.Mark(mark); err != nil {
		return err
	}
	for _, dir := range []string{c.podsDir(), c.logsDir()} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return fmt.Errorf("directory %s: %w", c.StateDir, err)
		}
	}
	return nil
}

// refuseForeign keeps the agent out of a directory where what it would take for its
// own, and remove in the end, is another program's.
func refuseForeign(stateDir string) error {
	found := foreign(stateDir)
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("directory %s: no agent made its %s; name a new or an empty directory", stateDir, strings.Join(found, ", "))
}

// foreign are the entries of an unmarked directory that have an agent's names. What
// users prepare for the node's containerd is none, and an agent of before there were
// marks is known by the store that it remembers.
func foreign(stateDir string) []string {
	if existing(filepath.Join(stateDir, storeIDName)) != "" {
		return nil
	}
	var found []string
	for _, name := range []string{podsName, logsName} {
		if existing(filepath.Join(stateDir, name)) != "" {
			found = append(found, name)
		}
	}
	entries, _ := os.ReadDir(containerdDir(stateDir))
	for _, e := range entries {
		if e.Name() != "certs.d" {
			found = append(found, filepath.Join(containerdName, e.Name()))
		}
	}
	return found
}
