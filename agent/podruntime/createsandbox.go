// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/cri"
)

// createSandbox makes a sandbox and learns its address, without which no container
// is started in it.
func (s *podSync) createSandbox(ctx context.Context, attempt uint32) (*podSandbox, error) {
	config, warnings, err := s.sandboxConfig(s.pod, attempt)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		s.recorder.Record(s.pod, "", corev1.EventTypeWarning, "DNSConfigForming", w)
	}
	if err := os.MkdirAll(config.LogDirectory, 0o755); err != nil {
		return nil, fmt.Errorf("log directory of the pod: %w", err)
	}
	handler, err := s.handler(s.pod)
	if err != nil {
		return nil, err
	}
	r, err := s.cfg.CRI.Runtime.RunPodSandbox(ctx, &runtimeapi.RunPodSandboxRequest{Config: config, RuntimeHandler: handler})
	if err != nil {
		return nil, fmt.Errorf("creating the sandbox: %w", plain(err))
	}
	sandbox := &podSandbox{id: r.GetPodSandboxId(), config: config, ips: s.podIPs(s.pod, nil)}
	if s.pod.Spec.HostNetwork {
		return sandbox, nil
	}
	st, err := s.cfg.CRI.Runtime.PodSandboxStatus(ctx, &runtimeapi.PodSandboxStatusRequest{PodSandboxId: sandbox.id})
	if err != nil {
		return nil, fmt.Errorf("address of sandbox %s: %w", sandbox.id, plain(err))
	}
	if sandbox.ips = sandboxIPs(st.GetStatus()); len(sandbox.ips) == 0 {
		return nil, fmt.Errorf("sandbox %s has no address", sandbox.id)
	}
	return sandbox, nil
}

func sandboxIPs(s *runtimeapi.PodSandboxStatus) []string {
	network := s.GetNetwork()
	if network.GetIp() == "" {
		return nil
	}
	ips := []string{network.GetIp()}
	for _, ip := range network.GetAdditionalIps() {
		ips = append(ips, ip.GetIp())
	}
	return ips
}

// plain is an error of the runtime without gRPC's preamble, for users to read; the
// error itself stays within reach.
func plain(err error) error {
	return &runtimeError{message: cri.Message(err), err: err}
}

type runtimeError struct {
	message string
	err     error
}

func (e *runtimeError) Error() string { return e.message }

func (e *runtimeError) Unwrap() error { return e.err }
