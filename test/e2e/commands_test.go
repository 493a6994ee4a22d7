// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

// outcome is what a run of the program printed and its exit code.
type outcome struct {
	out, err string
	code     int
}

// berth runs the program against the test's server and namespace.
func (w *world) berth(ctx context.Context, stdin string, args ...string) outcome {
	w.t.Helper()
	var out, err bytes.Buffer
	c := exec.CommandContext(ctx, suite.Berth, append(args, "--server", w.GRPC, "-n", w.ns)...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &err
	if failure := c.Run(); failure != nil && c.ProcessState == nil {
		w.t.Fatal(failure)
	}
	return outcome{out.String(), err.String(), c.ProcessState.ExitCode()}
}

func (w *world) manifest(p *corev1.Pod) string {
	w.t.Helper()
	content, err := json.Marshal(p)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

func TestCommandsShowWhatHappens(t *testing.T) {
	w := shared(t)
	p := pod("web", app("c", "tick", "100"))
	p.Labels = map[string]string{"app": "web"}
	run := func(stdin string, args ...string) outcome { return w.berth(w.ctx(), stdin, args...) }
	expect := func(got outcome, code int, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(got.out+got.err, text) {
				t.Errorf("no %q in %+v", text, got)
			}
		}
		if got.code != code {
			t.Errorf("exit code of %+v, want %d", got, code)
		}
	}

	expect(run(w.manifest(p), "create", "-f", "-"), 0, "pod/web created")
	expect(run(w.manifest(p), "create", "-f", "-"), 1, "already exists")
	ready := w.ready("web")
	expect(run("", "get", "pods"), 0, "NAME", "STATUS", "web", "1/1", "Running")
	expect(run("", "get", "pods", "-o", "wide", "-l", "app=web"), 0, ready.Status.PodIP, ready.Spec.NodeName)
	expect(run("", "get", "pods", "-l", "app=other"), 0, "No resources found")
	expect(run("", "get", "pod", "web", "-o", "yaml"), 0, "apiVersion: v1", "kind: Pod", "podIP: "+ready.Status.PodIP)
	expect(run("", "get", "pods", "-A", "-o", "name"), 0, "pod/web")
	expect(run("", "get", "pod", "none"), 1, `"none" not found`)
	expect(run("", "nodes"), 0, "node1", "node2", "Ready")
	expect(run("", "logs", "web", "--tail", "1"), 0, "line")

	changed := ready.DeepCopy()
	changed.APIVersion, changed.Kind = "v1", "Pod"
	changed.Spec.Containers[0].Image = image("app:2")
	expect(run(w.manifest(changed), "replace", "-f", "-"), 0, "pod/web replaced")
	expect(run(w.manifest(changed), "replace", "-f", "-"), 1, "modified")
	expect(run("", "delete", "pod", "web", "--grace-period", "5"), 0, "pod/web deleted")
	expect(run("", "get", "pod", "web"), 1, `"web" not found`)
}

func TestLogsFollowThroughTheTunnel(t *testing.T) {
	w := shared(t)
	w.create(pod("p", app("c", "tick", "100")))
	w.ready("p")
	ctx, cancel := context.WithTimeout(w.ctx(), 5*time.Second)
	defer cancel()
	var got bytes.Buffer
	c := exec.CommandContext(ctx, suite.Berth, "logs", "p", "-f", "--server", w.GRPC, "-n", w.ns)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.Stdout = &got
	if err := c.Run(); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(got.String()), "\n")
	if len(lines) < 10 {
		t.Errorf("%d lines came in 5 s:\n%s", len(lines), got.String())
	}
	for i, line := range lines {
		if want := fmt.Sprint("line ", i+1); line != want {
			t.Fatalf("line %d is %q", i+1, line)
		}
	}
}

// grpcurl calls a method with a request as JSON.
func (w *world) grpcurl(ctx context.Context, request string, args ...string) *exec.Cmd {
	w.t.Helper()
	path := filepath.Join(suite.Root, "bin", "tools", "grpcurl")
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			w.t.Fatal(err)
		}
		w.t.Skip("no grpcurl: run make tools-grpcurl")
	}
	all := []string{"-plaintext"}
	if request != "" {
		all = append(all, "-d", request)
	}
	return exec.CommandContext(ctx, path, append(append(all, w.GRPC), args...)...)
}

// A pasted manifest is created through reflection alone, and the stream to its
// node is watched while that happens.
func TestGRPCTakesAPastedManifest(t *testing.T) {
	w := shared(t)
	services, err := w.grpcurl(w.ctx(), "", "list").CombinedOutput()
	if err != nil || !strings.Contains(string(services), "berth.api.v1.Pods") {
		t.Fatalf("list: %v\n%s", err, services)
	}
	described, err := w.grpcurl(w.ctx(), "", "describe", "berth.api.v1.CreatePodRequest").CombinedOutput()
	if err != nil || !strings.Contains(string(described), "manifest") {
		t.Errorf("describe: %v\n%s", err, described)
	}

	ctx, cancel := context.WithCancel(w.ctx())
	defer cancel()
	updates, events := &output{}, &output{}
	watch := w.grpcurl(ctx, `{"node": "node1"}`, "berth.node.v1.Node/WatchNode")
	watch.Stdout = updates
	pods := w.grpcurl(ctx, fmt.Sprintf(`{"namespace": %q}`, w.ns), "berth.api.v1.Pods/Watch")
	pods.Stdout = events
	for _, c := range []*exec.Cmd{watch, pods} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}

	c := app("c", "serve", "80")
	c.Env = []corev1.EnvVar{{Name: "GREETING", Value: "ahoy"}}
	c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
	p := onNode(pod("pasted", c), "node1")
	p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	request := fmt.Sprintf(`{"namespace": %q, "manifest": %s}`, w.ns, w.manifest(p))
	if out, err := w.grpcurl(w.ctx(), request, "berth.api.v1.Pods/Create").CombinedOutput(); err != nil {
		t.Fatalf("create: %v\n%s", err, out)
	}
	ready := w.ready("pasted")
	if got := w.page(ready, "/env?name=GREETING"); got != "ahoy" {
		t.Errorf("$GREETING is %q", got)
	}
	got, err := w.grpcurl(w.ctx(), fmt.Sprintf(`{"namespace": %q, "name": "pasted", "asManifest": true}`, w.ns), "berth.api.v1.Pods/Get").CombinedOutput()
	if err != nil || !strings.Contains(string(got), ready.Status.PodIP) {
		t.Errorf("get: %v\n%s", err, got)
	}
	w.delete("pasted", 1)
	w.gone("pasted", testTimeout)

	for _, text := range []string{`"ADDED"`, `"MODIFIED"`, `"DELETED"`, `"pasted"`} {
		w.waitOutput(events, text)
	}
	for _, text := range []string{`"pasted"`, `"ADD"`, `"DELETE"`, `"REMOVE"`} {
		w.waitOutput(updates, text)
	}
	cancel()
	_, _ = watch.Wait(), pods.Wait()
}

// output is what a command that runs has printed so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (w *world) waitOutput(o *output, text string) {
	w.t.Helper()
	err := harness.Poll(w.ctx(), text+" is printed", func() (bool, error) { return strings.Contains(o.String(), text), nil })
	if err != nil {
		w.t.Errorf("%v; it is %s", err, o)
	}
}

// Bad input is answered on its own and leaves the rest as it was.
func TestBadInputIsRefusedWithItsReason(t *testing.T) {
	w := shared(t)
	w.create(pod("taken", app("c")))
	path := harness.PodPath(w.ns, "")
	unsupported := pod("p", app("c"))
	unsupported.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "r"}}
	for name, c := range map[string]struct {
		method, path string
		body         any
		code         int32
		text         string
	}{
		"malformed JSON":    {"POST", path, []byte(`{"kind": "Pod"`), 400, ""},
		"wrong kind":        {"POST", path, []byte(`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "p"}}`), 400, "Node"},
		"unknown namespace": {"POST", harness.PodPath("nowhere", ""), pod("p", app("c")), 404, "nowhere"},
		"name taken":        {"POST", path, pod("taken", app("c")), 409, "taken"},
		"invalid name":      {"POST", path, pod("Not_A_Name", app("c")), 422, "metadata.name"},
		"unsupported field": {"POST", path, unsupported, 422, "spec.resourceClaims"},
		"no image":          {"POST", path, pod("p", corev1.Container{Name: "c"}), 422, "spec.containers[0].image"},
		"negative grace":    {"DELETE", path + "/taken?gracePeriodSeconds=-5", nil, 422, "gracePeriodSeconds"},
		"too large":         {"POST", path, append([]byte(`{"x": "`), append(bytes.Repeat([]byte("x"), 2<<20), []byte(`"}`)...)...), 413, ""},
		"no such pod":       {"GET", path + "/none", nil, 404, "none"},
		"wrong method":      {"PUT", path, pod("p", app("c")), 405, ""},
	} {
		_, err := w.Do(w.ctx(), c.method, c.path, c.body, nil)
		refusal, ok := err.(*harness.StatusError)
		if !ok || refusal.Code != c.code || refusal.Reason == "" || !strings.Contains(refusal.Message, c.text) {
			t.Errorf("%s: %v; want %d and %q", name, err, c.code, c.text)
		}
	}
	stale := w.ready("taken")
	stale.ResourceVersion = "1"
	if _, err := w.Do(w.ctx(), "PUT", path+"/taken", stale, nil); err == nil || !strings.HasPrefix(err.Error(), "409 Conflict") {
		t.Errorf("stale resourceVersion: %v", err)
	}
	if p := w.get("taken"); p.DeletionTimestamp != nil || !isReady(p) {
		t.Errorf("the other pod is now %+v", p)
	}
}

func TestACommandThatIsNotThereIsNamedInTheStatus(t *testing.T) {
	w := shared(t)
	c := app("c")
	c.Command = []string{"/does/not/exist"}
	w.create(pod("p", c))
	w.wait("p", "names the command", func(p *corev1.Pod) bool {
		s := container(p, "c")
		return s.State.Waiting != nil && strings.Contains(s.State.Waiting.Message+terminationMessage(s), "/does/not/exist")
	})
}

func terminationMessage(s corev1.ContainerStatus) string {
	if t := s.LastTerminationState.Terminated; t != nil {
		return t.Message
	}
	return ""
}
