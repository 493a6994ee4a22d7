// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/reach"
	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/internal/sleep"
)

// hookAgent is what HTTP hooks say that they are.
const hookAgent = "kube-lifecycle/berth"

// maxHookOutput is how much of what a failed command said its event tells, in bytes.
const maxHookOutput = 1024

// hooked is a container that runs, for its lifecycle hooks.
type hooked struct {
	id   string
	spec *corev1.Container
	// podIPs are the pod's addresses, primary first.
	podIPs []string
}

func (c *hooked) podIP() string {
	if len(c.podIPs) == 0 {
		return ""
	}
	return c.podIPs[0]
}

// runHook does what the handler says. It ends with the context: no hook has a time
// limit of its own.
func (r *Runtime) runHook(ctx context.Context, c hooked, h *corev1.LifecycleHandler) error {
	switch {
	case h.Exec != nil:
		return r.execHook(ctx, c.id, h.Exec.Command)
	case h.HTTPGet != nil:
		return r.httpHook(ctx, c, h.HTTPGet)
	case h.Sleep != nil:
		return sleep.For(ctx, api.Seconds(h.Sleep.Seconds))
	}
	// A tcpSocket is in the API for old manifests only.
	return errors.New("a hook has to be one of exec, httpGet and sleep")
}

func (r *Runtime) execHook(ctx context.Context, id string, command []string) error {
	reply, err := r.cfg.CRI.Runtime.ExecSync(ctx, &runtimeapi.ExecSyncRequest{ContainerId: id, Cmd: command})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("command %q: %w", strings.Join(command, " "), plain(err))
	case reply.GetExitCode() != 0:
		return fmt.Errorf("command %q exited with %d: %s", strings.Join(command, " "), reply.GetExitCode(), said(reply))
	}
	return nil
}

// said is the end of what a command said.
func said(reply *runtimeapi.ExecSyncResponse) string {
	output := strings.TrimSpace(string(reply.GetStdout()) + string(reply.GetStderr()))
	return strings.ToValidUTF8(output[max(0, len(output)-maxHookOutput):], "\uFFFD")
}

// httpHook sends the request. Whatever the answer is, the container has had it.
func (r *Runtime) httpHook(ctx context.Context, c hooked, get *corev1.HTTPGetAction) error {
	request, err := reach.NewRequest(ctx, get, c.spec, c.podIP(), hookAgent)
	if err != nil {
		return err
	}
	response, err := reach.NewClient().Do(request)
	if err != nil {
		return err // it names the method and the address
	}
	return response.Body.Close()
}
