// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// answerWithin bounds the wait for an agent's first byte: a connection that
// looks alive may lead to a dead machine.
const answerWithin = 1800 * time.Millisecond

// errNoAnswer cancels a request that the agent has not answered in time.
var errNoAnswer = errors.New("the agent does not answer")

// Logs reads the logs of containers from the nodes that run them.
type Logs struct {
	tunnels *Tunnels
}

// NewLogs returns Logs that reach the agents through tunnels.
func NewLogs(tunnels *Tunnels) *Logs { return &Logs{tunnels} }

// Open returns the log of a container of the pod, as opts ask for it; ctx ends
// it. Its errors are Status errors: BadRequest for a container that is not in
// the pod or has not started, ServiceUnavailable, within 2 s, for a node whose
// agent is not there.
func (l *Logs) Open(ctx context.Context, pod *corev1.Pod, opts *corev1.PodLogOptions) (io.ReadCloser, error) {
	container, err := chooseContainer(pod, opts.Container)
	if err != nil {
		return nil, err
	}
	if pod.Spec.NodeName == "" {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", pod.Name))
	}
	query := logQuery(opts)
	if opts.Previous {
		attempt, ok := previousAttempt(pod, container)
		if !ok {
			return nil, noPrevious(pod, container)
		}
		query.Set("attempt", strconv.FormatInt(int64(attempt), 10))
	}
	resp, cancel, err := l.ask(ctx, pod, logURL(pod, container, query))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return &body{resp.Body, cancel}, nil
	}
	defer cancel()
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
	return nil, refusal(resp.StatusCode, strings.TrimSpace(string(text)), pod, container, opts.Previous)
}

// ask sends the request; cancel ends it and what it returned.
func (l *Logs) ask(ctx context.Context, pod *corev1.Pod, url string) (*http.Response, context.CancelFunc, error) {
	ctx, cancelCause := context.WithCancelCause(ctx)
	cancel := func() { cancelCause(context.Canceled) }
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	late := time.AfterFunc(answerWithin, func() { cancelCause(errNoAnswer) })
	defer late.Stop()
	resp, err := l.tunnels.Transport(pod.Spec.NodeName).RoundTrip(req)
	if err == nil {
		return resp, cancel, nil
	}
	defer cancel()
	if status := (apierrors.APIStatus)(nil); errors.As(err, &status) {
		return nil, nil, err
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errNoAnswer) {
		return nil, nil, ctx.Err()
	}
	return nil, nil, l.tunnels.gone(pod.Spec.NodeName)
}

func logURL(pod *corev1.Pod, container string, query url.Values) string {
	u := url.URL{
		Scheme:   "http",
		Host:     pod.Spec.NodeName,
		RawQuery: query.Encode(),
	}
	return u.JoinPath("v1", "pods", pod.Namespace, pod.Name, string(pod.UID), "log", container).String()
}

func logQuery(opts *corev1.PodLogOptions) url.Values {
	q := url.Values{}
	setBool := func(name string, on bool) {
		if on {
			q.Set(name, "true")
		}
	}
	setInt := func(name string, n *int64) {
		if n != nil {
			q.Set(name, strconv.FormatInt(*n, 10))
		}
	}
	setBool("follow", opts.Follow)
	setBool("timestamps", opts.Timestamps)
	setInt("tailLines", opts.TailLines)
	setInt("sinceSeconds", opts.SinceSeconds)
	setInt("limitBytes", opts.LimitBytes)
	if opts.SinceTime != nil {
		q.Set("sinceTime", opts.SinceTime.UTC().Format(time.RFC3339Nano))
	}
	return q
}

// body ends its request when it is closed.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *body) Close() error {
	b.cancel()
	return b.ReadCloser.Close()
}
