// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

// world is a cluster and a namespace of the test's own in it.
type world struct {
	*harness.Cluster
	t  *testing.T
	ns string
}

// testTimeout bounds each wait of a test.
const testTimeout = 40 * time.Second

var namespaces atomic.Int32

// shared gives a test a namespace in the cluster of all.
func shared(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return enter(t, cluster)
}

// own starts a cluster for the test alone. flags are further flags of its agents.
func own(t *testing.T, nodes int, flags ...string) *world {
	t.Helper()
	t.Parallel()
	c, err := suite.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	if err := c.Start(ctx, nodes, flags...); err != nil {
		t.Fatal(err, logTails(c))
	}
	if err := mirrorAll(c); err != nil {
		t.Fatal(err)
	}
	return enter(t, c)
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

func enter(t *testing.T, c *harness.Cluster) *world {
	t.Helper()
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	w := &world{c, t, fmt.Sprintf("%.50s-%d", name, namespaces.Add(1))}
	w.post("/api/v1/namespaces", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}, nil)
	t.Cleanup(w.leave)
	return w
}

// leave shows what there is if the test failed, and deletes the test's pods.
func (w *world) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	if w.t.Failed() {
		w.show(ctx)
	}
	var pods corev1.PodList
	if _, err := w.Do(ctx, http.MethodGet, harness.PodPath(w.ns, ""), nil, &pods); err != nil {
		w.t.Log("cannot list the test's pods:", err)
		return
	}
	for _, p := range pods.Items {
		_, err := w.Do(ctx, http.MethodDelete, harness.PodPath(w.ns, p.Name)+"?gracePeriodSeconds=0", nil, nil)
		if err == nil {
			err = w.waitGone(ctx, p.Name)
		}
		if err != nil && !harness.IsNotFound(err) {
			w.t.Errorf("clean up pod %s: %v", p.Name, err)
		}
	}
}

func (w *world) show(ctx context.Context) {
	for _, path := range []string{harness.PodPath(w.ns, ""), "/api/v1/namespaces/" + w.ns + "/events"} {
		text, err := w.Text(ctx, path)
		w.t.Log(path, text, err)
	}
	w.t.Log(logTails(w.Cluster))
}

func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), testTimeout)
	w.t.Cleanup(cancel)
	return ctx
}

func (w *world) post(path string, body, out any) []string {
	w.t.Helper()
	warnings, err := w.Do(w.ctx(), http.MethodPost, path, body, out)
	if err != nil {
		w.t.Fatalf("POST %s: %v", path, err)
	}
	return warnings
}

// create creates a pod and returns it as it was stored.
func (w *world) create(pod *corev1.Pod) *corev1.Pod {
	w.t.Helper()
	out := &corev1.Pod{}
	w.post(harness.PodPath(w.ns, ""), pod, out)
	return out
}

func (w *world) get(name string) *corev1.Pod {
	w.t.Helper()
	pod := &corev1.Pod{}
	if _, err := w.Do(w.ctx(), http.MethodGet, harness.PodPath(w.ns, name), nil, pod); err != nil {
		w.t.Fatalf("GET pod %s: %v", name, err)
	}
	return pod
}

// delete deletes a pod; a negative grace leaves it to the pod.
func (w *world) delete(name string, grace int) {
	w.t.Helper()
	path := harness.PodPath(w.ns, name)
	if grace >= 0 {
		path += fmt.Sprint("?gracePeriodSeconds=", grace)
	}
	if _, err := w.Do(w.ctx(), http.MethodDelete, path, nil, nil); err != nil {
		w.t.Fatalf("DELETE pod %s: %v", name, err)
	}
}

func (w *world) waitGone(ctx context.Context, name string) error {
	return harness.Poll(ctx, "pod "+name+" is gone", func() (bool, error) {
		_, err := w.Do(ctx, http.MethodGet, harness.PodPath(w.ns, name), nil, nil)
		return harness.IsNotFound(err), nil
	})
}

// gone waits for the pod's end for so long, and returns how long it took.
func (w *world) gone(name string, within time.Duration) time.Duration {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), within)
	defer cancel()
	began := time.Now()
	if err := w.waitGone(ctx, name); err != nil {
		w.t.Fatal(err)
	}
	return time.Since(began)
}

// wait waits until the pod is as ok says, and returns it.
func (w *world) wait(name, what string, ok func(*corev1.Pod) bool) *corev1.Pod {
	w.t.Helper()
	return w.waitFor(testTimeout, name, what, ok)
}

func (w *world) waitFor(within time.Duration, name, what string, ok func(*corev1.Pod) bool) *corev1.Pod {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), within)
	defer cancel()
	var last *corev1.Pod
	err := harness.Poll(ctx, "pod "+name+" "+what, func() (bool, error) {
		pod := &corev1.Pod{}
		if _, err := w.Do(ctx, http.MethodGet, harness.PodPath(w.ns, name), nil, pod); err != nil {
			return false, nil
		}
		last = pod
		return ok(pod), nil
	})
	if err != nil {
		w.t.Fatalf("%v; it is %+v", err, last)
	}
	return last
}

// ready waits until the pod is Ready.
func (w *world) ready(name string) *corev1.Pod {
	w.t.Helper()
	return w.wait(name, "is Ready", isReady)
}

// page fetches a page from the pod's port 80.
func (w *world) page(pod *corev1.Pod, path string) string {
	w.t.Helper()
	var body string
	err := harness.Poll(w.ctx(), "pod "+pod.Name+" serves "+path, func() (bool, error) {
		client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Get("http://" + pod.Status.PodIP + path)
		if err != nil {
			return false, nil // what it runs may not listen yet
		}
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		body = string(content)
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", response.Status, body)
		}
		return err == nil, err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return body
}
