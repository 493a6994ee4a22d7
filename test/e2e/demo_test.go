// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The demo shows what README says, may be repeated, and leaves nothing: it looks for
// that itself.
func TestDemo(t *testing.T) {
	t.Parallel()
	env := append(os.Environ(), "BERTH_DEMO_DIR="+filepath.Join(suite.Dir, "demo"), "BERTH_DEMO_CIDR=10.148.0.0/16",
		"BERTH_DEMO_HTTP="+unused(t), "BERTH_DEMO_GRPC="+unused(t))
	demo := func(verb string, texts ...string) {
		t.Helper()
		c := exec.Command(filepath.Join(suite.Root, "hack", "demo.sh"), verb)
		c.Env = env
		out, err := c.CombinedOutput()
		for _, text := range texts {
			if !strings.Contains(string(out), text) {
				t.Errorf("%s did not print %q", verb, text)
			}
		}
		if err != nil || t.Failed() {
			t.Fatalf("%s: %v\n%s", verb, err, out)
		}
	}
	t.Cleanup(func() { demo("down", "is left") })
	demo("up", "node1", "node2", "1/1", "Hello from pod default/web")
	demo("up", "run already", "there already", "Hello from pod default/web")
	demo("down", "no process, mount, network namespace, bridge, cgroup or firewall rule is left")
}
