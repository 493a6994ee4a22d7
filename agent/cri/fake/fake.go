// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fake is a CRI runtime in memory, for tests. Its containers run nothing:
// a test says when they end, beforehand (Script) or at once (Exit). It is
// deterministic, knows no time but that of package time and opens no socket, so it
// runs in a testing/synctest bubble. It behaves as containerd does where CRI leaves
// a choice; it does not replace tests on a real runtime.
package fake

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/cri/fault"
)

// Runtime is the runtime's state.
type Runtime struct {
	// Faults apply to every call that a client makes.
	Faults fault.Script

	mu         sync.Mutex
	lastID     int
	sandboxes  map[string]*sandbox
	containers map[string]*container
	images     map[string]*runtimeapi.Image
	processes  map[string]*scripted
	commands   map[string]Command
	calls      []Call
	watchers   map[*watcher]struct{}
	notReady   bool
}

// Call is a call that a client made.
type Call struct {
	Method  string
	Request proto.Message
}

// New returns an empty runtime that has the images.
func New(images ...string) *Runtime {
	r := &Runtime{
		sandboxes:  map[string]*sandbox{},
		containers: map[string]*container{},
		images:     map[string]*runtimeapi.Image{},
		processes:  map[string]*scripted{},
		commands:   map[string]Command{},
		watchers:   map[*watcher]struct{}{},
	}
	for _, name := range images {
		r.addImage(name)
	}
	return r
}

// Client returns a client of the runtime.
func (r *Runtime) Client() *cri.Client { return cri.NewClient(&conn{runtime: r}) }

// Calls lists the calls of the methods, or all, in the order they came in.
func (r *Runtime) Calls(methods ...string) []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.calls), func(c Call) bool {
		return len(methods) > 0 && !slices.Contains(methods, c.Method)
	})
}

// ForgetCalls empties the list of calls.
func (r *Runtime) ForgetCalls() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = nil
}

// SetReady sets what Status says of the runtime and its network.
func (r *Runtime) SetReady(ready bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notReady = !ready
}

// newID returns the next id of that kind, such as container-3.
func (r *Runtime) newID(kind string) string {
	r.lastID++
	return kind + "-" + strconv.Itoa(r.lastID)
}

func now() int64 { return time.Now().UnixNano() }
