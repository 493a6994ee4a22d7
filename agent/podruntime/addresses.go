// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
)

// addressPeriod is the time between two checks of all sandboxes.
const addressPeriod = 30 * time.Second

// addresses knows the sandboxes whose network namespace has lost the address that
// the runtime still tells of them, or is cut off from the node's bridge.
type addresses struct {
	mu sync.Mutex
	// known holds, by sandbox, what the runtime says; it does not change while the
	// sandbox lives.
	known map[string]sandboxAddress
	// bridged are the sandboxes that were seen on a bridge.
	bridged map[string]bool
	lost    map[string]bool
}

// sandboxAddress is what the runtime says of a sandbox's network; with the host's
// network there is no path.
type sandboxAddress struct {
	path string
	ips  []string
}

func newAddresses() *addresses {
	return &addresses{known: map[string]sandboxAddress{}, bridged: map[string]bool{}, lost: map[string]bool{}}
}

func (a *addresses) isLost(sandbox string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lost[sandbox]
}

// WatchAddresses compares the address of each ready sandbox with those in its
// network namespace, now and then until ctx ends, and calls lost for each pod whose
// sandbox has lost its own, or the bridge that leads to it. From then on PodStatus shows the sandbox without an
// address, so that it is made anew.
func (r *Runtime) WatchAddresses(ctx context.Context, lost func(types.UID)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(addressPeriod):
		}
		uids, err := r.checkAddresses(ctx)
		if err != nil && ctx.Err() == nil {
			r.log.Warn("the addresses of the pods cannot be checked", "err", err)
		}
		for _, uid := range uids {
			lost(uid)
		}
	}
}

// checkAddresses returns the pods whose sandbox was found without its network. A
// sandbox that cannot be looked at is left for the next time.
func (r *Runtime) checkAddresses(ctx context.Context) ([]types.UID, error) {
	sandboxes, _, err := r.list(ctx, nil)
	if err != nil {
		return nil, err
	}
	var uids []types.UID
	alive := map[string]bool{}
	for _, s := range sandboxes {
		if s.GetState() != runtimeapi.PodSandboxState_SANDBOX_READY {
			continue
		}
		alive[s.GetId()] = true
		switch missing, err := r.missesNetwork(ctx, s.GetId()); {
		case err != nil:
			r.log.Debug("the network of a sandbox cannot be checked", "sandbox", s.GetId(), "err", err)
		case missing != "":
			r.log.Warn("a pod's sandbox has lost its network and is made anew", "missing", missing, "pod", s.GetLabels()[podNamespaceLabel]+"/"+s.GetLabels()[podNameLabel],
				"uid", s.GetLabels()[podUIDLabel], "sandbox", s.GetId())
			uids = append(uids, types.UID(s.GetLabels()[podUIDLabel]))
		}
	}
	r.addresses.retain(alive)
	return uids, nil
}

// missesNetwork looks at one sandbox, notes what it finds, and says what is missing.
func (r *Runtime) missesNetwork(ctx context.Context, sandbox string) (string, error) {
	a, err := r.sandboxAddress(ctx, sandbox)
	if err != nil || a.path == "" {
		return "", err
	}
	found, err := namespaceAddresses(a.path)
	if err != nil {
		return "", err
	}
	return r.addresses.note(sandbox, found, r.cfg.OwnBridge), nil
}

// note takes in what is in a sandbox's network namespace, and says what is missing.
// That a sandbox belongs on a bridge is known of the node's own network; of that of
// others, where it was there before.
func (a *addresses) note(sandbox string, found map[string]hostEnd, own bool) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, ip := range a.known[sandbox].ips {
		end, ok := found[ip]
		switch {
		case !ok:
			a.lost[sandbox] = true
			return "the address " + ip
		case end == onBridge:
			a.bridged[sandbox] = true
		case end == onNoBridge && (own || a.bridged[sandbox]):
			a.lost[sandbox] = true
			return "the bridge of " + ip
		}
	}
	return ""
}

func (r *Runtime) sandboxAddress(ctx context.Context, sandbox string) (sandboxAddress, error) {
	r.addresses.mu.Lock()
	a, ok := r.addresses.known[sandbox]
	r.addresses.mu.Unlock()
	if ok {
		return a, nil
	}
	reply, err := r.cfg.CRI.Runtime.PodSandboxStatus(ctx, &runtimeapi.PodSandboxStatusRequest{PodSandboxId: sandbox, Verbose: true})
	switch {
	case cri.IsNotFound(err):
		return a, nil
	case err != nil:
		return a, fmt.Errorf("status of sandbox %s: %w", sandbox, err)
	}
	a = sandboxAddress{ips: sandboxIPs(reply.GetStatus())}
	if a.path, err = networkNamespace(reply.GetInfo()["info"]); err != nil {
		return a, fmt.Errorf("status of sandbox %s: %w", sandbox, err)
	}
	r.addresses.mu.Lock()
	defer r.addresses.mu.Unlock()
	r.addresses.known[sandbox] = a
	return a, nil
}

func (a *addresses) retain(alive map[string]bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.known {
		if !alive[id] {
			delete(a.known, id)
			delete(a.bridged, id)
			delete(a.lost, id)
		}
	}
}

// networkNamespace reads the path of the network namespace from a sandbox's verbose
// information, in which runtimes give its OCI specification. Where there is none,
// the sandbox has the host's network, or the runtime does not tell.
func networkNamespace(info string) (string, error) {
	if info == "" {
		return "", nil
	}
	var verbose struct {
		RuntimeSpec struct {
			Linux struct {
				Namespaces []struct{ Type, Path string }
			}
		}
	}
	if err := json.Unmarshal([]byte(info), &verbose); err != nil {
		return "", fmt.Errorf("verbose information: %w", err)
	}
	for _, n := range verbose.RuntimeSpec.Linux.Namespaces {
		if n.Type == "network" {
			return n.Path, nil
		}
	}
	return "", nil
}
