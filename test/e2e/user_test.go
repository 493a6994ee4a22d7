// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// user has a namespace of the cluster of all, and kubectl.
type user struct {
	*world
	env  []string
	seen *history // of the pods, from before the example is applied
}

func newUser(t *testing.T) *user {
	t.Helper()
	w := shared(t)
	home := t.TempDir()
	config := filepath.Join(home, "config")
	if err := os.WriteFile(config, fmt.Appendf(nil, kubeconfig, w.URL(), w.ns), 0o600); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(suite.Dir, "kubectl.shared") // all ask the same server
	return &user{w, append(os.Environ(), "HOME="+home, "KUBECONFIG="+config, "KUBECACHEDIR="+cache), w.record()}
}

// kubectl runs it in the root of the repository, where people are told to, and returns
// what it printed.
func (u *user) kubectl(args ...string) string {
	u.t.Helper()
	program := filepath.Join(suite.Root, "bin", "tools", "kubectl")
	if _, err := os.Stat(program); err != nil {
		u.t.Fatalf("%v: run make tools-kubectl", err)
	}
	c := exec.CommandContext(u.ctx(), program, args...)
	var out, complaints bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = suite.Root, u.env, &out, &complaints
	if err := c.Run(); err != nil {
		u.t.Fatalf("kubectl %q: %v: %s", args, err, complaints.Bytes())
	}
	return out.String()
}
