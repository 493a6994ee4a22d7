// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/agent/cri/faultproxy"
	"github.com/berth-run/berth/test/internal/harness"
)

// faultyNode adds a node on the containerd of the first, whose calls go as the script
// says.
func (w *world) faultyNode() (*harness.Node, *fault.Script) {
	w.t.Helper()
	target, err := w.Nodes[0].Endpoint()
	if err != nil {
		w.t.Fatal(err)
	}
	script := &fault.Script{}
	socket := filepath.Join(suite.Dir, w.ns+".sock")
	ctx, cancel := context.WithCancel(context.Background())
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() { ended <- faultproxy.Run(ctx, socket, strings.TrimPrefix(target, "unix://"), script, ready) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
	<-ready
	node, err := w.AddNode("faulty", "--runtime-endpoint", "unix://"+socket)
	if err == nil {
		err = node.Start()
	}
	if err == nil {
		err = w.WaitNodeReady(w.ctx(), node.Name)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return node, script
}

// reached arms the rule for the calls that match, and returns what gets a token when
// one comes.
func reached(script *fault.Script, rule fault.Rule, matches func(proto.Message) bool) (reached <-chan struct{}, disarm func()) {
	seen := make(chan struct{}, 1)
	rule.Match = func(request proto.Message) bool {
		if !matches(request) {
			return false
		}
		select {
		case seen <- struct{}{}:
		default:
		}
		return true
	}
	return seen, script.Add(rule)
}
