// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// RunInContainer runs a command in a container that runs and returns what it said. A
// command that does not succeed ends with a *podtypes.ExitError; one whose time is
// over is stopped, with the processes that it has started, and ends with
// podtypes.ErrTimedOut. Any other error says nothing of the command.
func (r *Runtime) RunInContainer(ctx context.Context, pod *corev1.Pod, c *corev1.Container, id string, command []string, timeout time.Duration) (string, error) {
	request := &runtimeapi.ExecSyncRequest{ContainerId: id, Cmd: expandStatic(command, c.Env), Timeout: wholeSeconds(timeout)}
	guard := r.guardExec(pod, id, timeout)
	reply, err := r.cfg.CRI.Runtime.ExecSync(ctx, request)
	guard.end()
	switch {
	case status.Code(err) == codes.DeadlineExceeded:
		return "", fmt.Errorf("%w: %q timed out after %s", podtypes.ErrTimedOut, strings.Join(command, " "), timeout)
	case err != nil:
		return "", plain(err)
	}
	output := string(reply.GetStdout()) + string(reply.GetStderr())
	if code := reply.GetExitCode(); code != 0 {
		return output, &podtypes.ExitError{Code: code}
	}
	return output, nil
}

// expandStatic replaces the references to those of the container's variables whose
// values stand in its manifest. A reference that would be too long stays as it is.
func expandStatic(command []string, env []corev1.EnvVar) []string {
	vars := map[string]string{}
	for i := range env {
		if env[i].ValueFrom == nil {
			vars[env[i].Name] = env[i].Value
		}
	}
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = word
		if expanded, ok := expand(word, vars, maxString); ok {
			words[i] = expanded
		}
	}
	return words
}
