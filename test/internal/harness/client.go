// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Client speaks the server's REST API with nothing but HTTP and JSON.
type Client struct {
	base string
	http *http.Client
}

// NewClient talks to the server at the base URL.
func NewClient(base string) *Client { return &Client{base, &http.Client{}} }

// URL is the base URL of the server.
func (c *Client) URL() string { return c.base }

// StatusError is a refusal by the server.
type StatusError struct{ metav1.Status }

func (e *StatusError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.Code, e.Reason, e.Message)
}

// IsNotFound tells whether the server has no such object.
func IsNotFound(err error) bool {
	var s *StatusError
	return errors.As(err, &s) && s.Code == http.StatusNotFound
}

// Do sends body, an object or bytes of JSON, and reads the answer into out. It
// returns the answer's warnings and, for a refusal, a *StatusError.
func (c *Client) Do(ctx context.Context, method, path string, body, out any) ([]string, error) {
	content, ok := body.([]byte)
	if !ok && body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	response, err := c.send(ctx, method, path, content)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		refusal := &StatusError{}
		if err := json.Unmarshal(answer, &refusal.Status); err != nil {
			return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, answer)
		}
		return nil, refusal
	}
	if out != nil {
		err = json.Unmarshal(answer, out)
	}
	return response.Header.Values("Warning"), err
}

func (c *Client) send(ctx context.Context, method, path string, content []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	return c.http.Do(request)
}

// Text fetches a path as it is, such as a log.
func (c *Client) Text(ctx context.Context, path string) (string, error) {
	response, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("GET %s: %s: %s", path, response.Status, content)
	}
	return string(content), err
}

// WatchEvent is a change of a pod.
type WatchEvent struct {
	Type   string
	Object corev1.Pod
}

// WatchPods calls fn for each event of a watch until fn returns false.
func (c *Client) WatchPods(ctx context.Context, path string, fn func(WatchEvent) bool) error {
	response, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, response.Status)
	}
	decoder := json.NewDecoder(response.Body)
	for {
		var event WatchEvent
		if err := decoder.Decode(&event); err != nil {
			return err
		}
		if !fn(event) {
			return nil
		}
	}
}

// PodPath is the path of a pod, or of all in the namespace for an empty name.
func PodPath(namespace, name string) string {
	path := "/api/v1/namespaces/" + namespace + "/pods"
	if name != "" {
		path += "/" + name
	}
	return path
}

// WaitServer waits until the server is ready.
func (c *Client) WaitServer(ctx context.Context) error {
	return Poll(ctx, "the server is ready", func() (bool, error) {
		_, err := c.Text(ctx, "/readyz")
		return err == nil, nil
	})
}

// WaitNodeReady waits until the node is ready for pods.
func (c *Client) WaitNodeReady(ctx context.Context, name string) error {
	return Poll(ctx, "node "+name+" is ready", func() (bool, error) {
		var node corev1.Node
		if _, err := c.Do(ctx, http.MethodGet, "/api/v1/nodes/"+name, nil, &node); err != nil {
			return false, nil
		}
		for _, cond := range node.Status.Conditions {
			if cond.Type == corev1.NodeReady {
				return cond.Status == corev1.ConditionTrue, nil
			}
		}
		return false, nil
	})
}

// pollInterval is short against what the tests measure.
const pollInterval = 50 * time.Millisecond

// Poll asks until done, an error, or the end of ctx.
func Poll(ctx context.Context, what string, done func() (bool, error)) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		ok, err := done()
		if err != nil {
			return fmt.Errorf("waiting until %s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, ctx.Err())
		case <-ticker.C:
		}
	}
}
