// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/reach"
)

// HTTP asks containers by HTTP requests, each over a connection of its own.
type HTTP struct{ http1, http2 *http.Client }

// NewHTTP returns one for any number of containers.
func NewHTTP() *HTTP {
	return &HTTP{http1: reach.NewClient(), http2: reach.NewHTTP2Client()}
}

// Probe sends the request and waits for the answer.
func (h *HTTP) Probe(ctx context.Context, get *corev1.HTTPGetAction, c *corev1.Container, podIP string, timeout time.Duration) Outcome {
	ctx, cancel := withTimeout(ctx, timeout)
	defer cancel()
	request, err := reach.NewRequest(ctx, get, c, podIP, userAgent)
	if err != nil {
		return unknown(err)
	}
	client := h.http1
	if get.Protocol != nil && *get.Protocol == corev1.HTTPProtocolHTTP2 {
		client = h.http2
	}
	response, err := client.Do(request)
	if err != nil {
		return failure(err.Error())
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxOutput))
	if err != nil {
		return failure(fmt.Sprintf("reading the answer of %s: %v", request.URL, err))
	}
	return ofStatus(response.StatusCode, string(body))
}

// ofStatus is what an HTTP answer means. A redirect that is left is one to another
// host: the container answers, if not what was asked.
func ofStatus(code int, body string) Outcome {
	switch {
	case code >= http.StatusOK && code < http.StatusMultipleChoices:
		return success(body)
	case code >= http.StatusMultipleChoices && code < http.StatusBadRequest:
		return Outcome{Result: podtypes.ProbeSuccess, Warning: true, Output: "Probe terminated redirects, Response body: " + body}
	}
	return failure(fmt.Sprintf("HTTP probe failed with statuscode: %d", code))
}
