// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptTimeout bounds all scripts of a kubectl, so that one which hangs fails.
const scriptTimeout = 10 * time.Minute

// TestKubectl runs testdata/kubectl/*.txtar, what users of kubectl type and see, with
// the oldest and the newest kubectl that berth is made for. Each has a node of its
// own for what it does to nodes.
func TestKubectl(t *testing.T) {
	w := own(t, 2)
	for program, node := range map[string]string{"kubectl132": "node1", "kubectl": "node2"} {
		t.Run(program, func(t *testing.T) {
			e := scriptEnv{
				client:  w.Client,
				kubectl: filepath.Join(suite.Root, "bin", "tools", program),
				node:    node,
				cache:   filepath.Join(suite.Dir, program+".cache"),
			}
			testscript.Run(t, testscript.Params{
				Dir:                filepath.Join("testdata", "kubectl"),
				RequireUniqueNames: true,
				Deadline:           time.Now().Add(scriptTimeout),
				Setup:              func(env *testscript.Env) error { return e.setUp(t.Context(), env) },
				Cmds:               scriptCommands,
			})
		})
	}
}
