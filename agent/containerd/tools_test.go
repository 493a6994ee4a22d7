// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// blocked starts a copy of cat under the name, which waits until the test ends.
func blocked(t *testing.T, name string, env ...string) entry {
	t.Helper()
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), name)
	content, err := os.ReadFile(cat)
	if err == nil {
		err = os.WriteFile(program, content, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program)
	c.Env = env
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = c.Wait()
	})
	// What it echoes shows that it has become the program.
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	e, err := inspect(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestToolsOfTheNodeAreRecognised(t *testing.T) {
	r := &Runtime{cfg: Config{RunDir: "/run/berth/01234567"}}
	runc := func(root string) entry {
		return entry{process: process{Executable: "/opt/runc"}, args: []string{"runc", "--root", root, "create"}}
	}
	for name, c := range map[string]struct {
		entry entry
		want  bool
	}{
		"runc":                    {runc("/run/berth/01234567/runc/k8s.io"), true},
		"runc of another node":    {runc("/run/berth/76543210/runc/k8s.io"), false},
		"plugin":                  {blocked(t, "host-local", "A=B", "CNI_NETNS=/run/berth/01234567/state/netns/cni-1"), true},
		"plugin of another node":  {blocked(t, "host-local", "CNI_NETNS=/run/berth/012345678/state/netns/cni-1"), false},
		"plugin of a lost netns":  {blocked(t, "bridge", "CNI_NETNS="), false},
		"another program near by": {blocked(t, "editor", "CNI_NETNS=/run/berth/01234567/state/netns/cni-1"), false},
	} {
		if got := r.isTool(c.entry); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
