// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-run/berth/internal/statedir"
)

// fill makes files below dir; a name that ends in a slash is a directory.
func fill(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// An agent owns pods, logs and containerd in its state directory, and all of that goes
// with the node: it must not be another program's.
func TestClaimRefusesWhatIsNotTheAgents(t *testing.T) {
	for name, test := range map[string]struct {
		entries []string
		refused string
	}{
		"new":                        {nil, ""},
		"a log beside":               {[]string{"agent.log"}, ""},
		"registries prepared":        {[]string{"containerd/certs.d/docker.io/hosts.toml"}, ""},
		"of before there were marks": {[]string{"store-id", "pods/uid/", "logs/pods/", "containerd/root/"}, ""},
		"the kubelet's":              {[]string{"pods/uid/", "plugins/"}, "no agent made its pods"},
		"another containerd beside":  {[]string{"containerd/io.containerd.metadata.v1.bolt/", "apt/"}, "no agent made its containerd/io.containerd"},
		"of berth dev":               {[]string{"logs/"}, "no agent made its logs"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{StateDir: t.TempDir()}
			fill(t, cfg.StateDir, test.entries...)
			d, err := cfg.claimStateDir()
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("claimed: %v, want %q", err, test.refused)
				}
				if existing(filepath.Join(cfg.StateDir, statedir.MarkFile)) != "" {
					t.Error("it is marked all the same")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			d.Close()
			if d, err = cfg.claimStateDir(); err != nil {
				t.Fatal("claim again:", err)
			}
			d.Close()
		})
	}
}

func TestClaimRemembersTheRuntimes(t *testing.T) {
	cfg := Config{StateDir: t.TempDir()}
	for _, endpoint := range []string{"unix:///a", "", "unix:///b", "unix:///a"} {
		cfg.RuntimeEndpoint = endpoint
		d, err := cfg.claimStateDir()
		if err != nil {
			t.Fatal(err)
		}
		d.Close()
	}
	d, err := statedir.Open(cfg.StateDir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	mark, err := d.ReadMark(madeByAgent)
	if diff := cmp.Diff([]string{"unix:///a", "unix:///b"}, mark.RuntimeEndpoints); err != nil || diff != "" {
		t.Errorf("runtimes: %v\n%s", err, diff)
	}
}

func TestOneAgentPerStateDirectory(t *testing.T) {
	cfg := Config{StateDir: t.TempDir()}
	d, err := cfg.claimStateDir()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := cfg.claimStateDir(); err == nil || !strings.Contains(err.Error(), "another agent runs node "+NodeID(cfg.StateDir)) {
		t.Errorf("a second agent: %v", err)
	}
	err = Down(t.Context(), DownConfig{StateDir: cfg.StateDir, Logger: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "its agent runs; stop it first") {
		t.Errorf("Down = %v", err)
	}
}
