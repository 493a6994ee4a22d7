// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func validConfig() Config {
	return Config{
		Dir: "/var/lib/berth/n", RunDir: "/run/berth/01234567", BinDir: "/opt/berth", NodeID: "01234567",
		PauseTar: "/opt/berth/pause.tar", Logger: slog.New(slog.DiscardHandler),
	}
}

func TestNewNamesTheWrongField(t *testing.T) {
	for field, spoil := range map[string]func(*Config){
		"Dir":      func(c *Config) { c.Dir = "relative" },
		"RunDir":   func(c *Config) { c.RunDir = "/run/" + strings.Repeat("x", 60) },
		"BinDir":   func(c *Config) { c.BinDir = "" },
		"PauseTar": func(c *Config) { c.PauseTar = "pause.tar" },
		"NodeID":   func(c *Config) { c.NodeID = "node-one" },
		"Logger":   func(c *Config) { c.Logger = nil },
	} {
		c := validConfig()
		spoil(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("New with a wrong %s = %v", field, err)
		}
	}
	if _, err := New(validConfig()); err != nil {
		t.Error(err)
	}
}

func TestMissingRuntimeSaysHowToGetIt(t *testing.T) {
	c := validConfig()
	c.Dir, c.RunDir, c.BinDir = t.TempDir(), filepath.Join("/tmp", "berth-"+randomID(t)), t.TempDir()
	t.Cleanup(func() { os.RemoveAll(c.RunDir) })
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "make runtime") || !strings.Contains(err.Error(), "--runtime-endpoint") {
		t.Errorf("Run = %v", err)
	}
}

func TestRenderedConfigFollowsTheCapability(t *testing.T) {
	r := &Runtime{cfg: validConfig()}
	for capable, want := range map[bool][]string{
		true:  {"oom_score = -999", "restrict_oom_score_adj = false"},
		false: {"oom_score = 0", "restrict_oom_score_adj = true"},
	} {
		text, err := r.renderConfig(capable)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range append(want, `address = "/run/berth/01234567/containerd.sock"`, `sandbox = "berth.run/pause:1"`) {
			if !strings.Contains(string(text), line+"\n") {
				t.Errorf("capable %t: no line %q in\n%s", capable, line, text)
			}
		}
	}
}

func TestHasCapability(t *testing.T) {
	for content, want := range map[string]struct{ has, ok bool }{
		"Name:\tx\nCapEff:\t000001ffffffffff\n": {true, true},
		"Name:\tx\nCapEff:\t000001fffeffffff\n": {false, true},
		"CapEff:\tnonsense\n":                   {false, false},
		"Name:\tx\n":                            {false, false},
	} {
		file := filepath.Join(t.TempDir(), "status")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		has, err := hasCapability(file, unix.CAP_SYS_RESOURCE)
		if has != want.has || (err == nil) != want.ok {
			t.Errorf("%q: %t, %v; want %+v", content, has, err, want)
		}
	}
}

func TestWriteIfChanged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	for i, step := range []struct {
		content string
		changed bool
	}{{"a", true}, {"a", false}, {"b", true}} {
		changed, err := writeIfChanged(file, []byte(step.content))
		if err != nil || changed != step.changed {
			t.Errorf("step %d: %t, %v; want %t", i, changed, err, step.changed)
		}
		if got, _ := os.ReadFile(file); string(got) != step.content {
			t.Errorf("step %d: content %q, want %q", i, got, step.content)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("temporary files stay: %v", left)
	}
}

func TestNextPause(t *testing.T) {
	for _, test := range []struct{ last, uptime, want time.Duration }{
		{0, time.Second, 100 * time.Millisecond},
		{100 * time.Millisecond, time.Second, 200 * time.Millisecond},
		{8 * time.Second, time.Second, 10 * time.Second},
		{10 * time.Second, 29 * time.Second, 10 * time.Second},
		{10 * time.Second, 30 * time.Second, 0},
	} {
		if got := nextPause(test.last, test.uptime); got != test.want {
			t.Errorf("nextPause(%v, %v) = %v, want %v", test.last, test.uptime, got, test.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "NOTIFY_SOCKET=/x", "HTTPS_PROXY=p"}, "/opt/berth")
	if want := "HTTPS_PROXY=p PATH=/opt/berth:/bin"; strings.Join(got, " ") != want {
		t.Errorf("environment = %v, want %s", got, want)
	}
	got = environment(nil, "/opt/berth")
	if len(got) != 1 || !strings.Contains(got[0], ":/usr/sbin:") {
		t.Errorf("environment without a path = %v", got)
	}
}

func TestLastLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	if got := lastLine(file); got != "" {
		t.Errorf("of no file: %q", got)
	}
	text := strings.Repeat("long ago\n", 1000) + "the cause\n\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := lastLine(file); got != "the cause" {
		t.Errorf("lastLine = %q", got)
	}
}
