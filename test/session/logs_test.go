// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	agenttunnel "github.com/berth-run/berth/agent/tunnel"

	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/server/tunnel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runtime has container c, which runs until exited is closed.
type runtime struct{ exited chan struct{} }

func newRuntime() *runtime { return &runtime{exited: make(chan struct{})} }

func (r *runtime) Pod(types.UID) (*podtypes.RuntimePod, time.Time, <-chan struct{}) {
	c := podtypes.Container{Name: "c", State: podtypes.ContainerRunning}
	changed := r.exited
	select {
	case <-r.exited:
		c.State, changed = podtypes.ContainerExited, nil
	default:
	}
	return &podtypes.RuntimePod{Containers: []podtypes.Container{c}}, time.Now(), changed
}

// logNode is an agent that has only its tunnel, and the logs below a directory.
func logNode(t *testing.T, s *server, root string, r *runtime) {
	client := agenttunnel.New(agenttunnel.Config{
		Target: "passthrough:///server", DialOptions: s.dialOptions(), Node: "n1",
		Handler: agenttunnel.NewHandler(agenttunnel.NewLogs(root, r, discard)), Logger: discard,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { _ = client.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		ended.Wait()
	})
}

var logged = &corev1.Pod{
	ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u"},
	Spec:       corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c"}}},
}

// A log that is followed comes line by line and ends with its container; after
// the server was away the next one is there.
func TestLogsFromEndToEnd(t *testing.T) {
	root, r := t.TempDir(), newRuntime()
	s := newServer(t)
	logNode(t, s, root, r)
	_, err := tunnel.NewLogs(s.tunnels).Open(t.Context(), logged, &corev1.PodLogOptions{})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("before the container has started: %v, want BadRequest", err)
	}
	file := startLog(t, root)

	log, err := tunnel.NewLogs(s.tunnels).Open(t.Context(), logged, &corev1.PodLogOptions{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	lines := bufio.NewReader(log)
	for _, want := range []string{"one\n", "two\n"} {
		if _, err := file.WriteString("2024-01-01T00:00:01Z stdout F " + want); err != nil {
			t.Fatal(err)
		}
		if got, err := lines.ReadString('\n'); got != want {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
	}
	close(r.exited)
	if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
		t.Errorf("rest %q, %v", rest, err)
	}

	s.halt()
	s.start()
	again, err := tunnel.NewLogs(s.tunnels).Open(t.Context(), logged, &corev1.PodLogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if text, err := io.ReadAll(again); string(text) != "one\ntwo\n" || err != nil {
		t.Errorf("after the server's restart: %q, %v", text, err)
	}
}

// A reader that stops reading holds up nobody else's log.
func TestStalledReaderHoldsUpNobody(t *testing.T) {
	root, r := t.TempDir(), newRuntime()
	close(r.exited)
	s := newServer(t)
	logNode(t, s, root, r)
	file := startLog(t, root)
	line := "2024-01-01T00:00:01Z stdout F " + strings.Repeat("x", 1000) + "\n"
	for range 20 {
		if _, err := file.WriteString(strings.Repeat(line, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	logs := tunnel.NewLogs(s.tunnels)
	stalled, err := logs.Open(t.Context(), logged, &corev1.PodLogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close()
	brisk, err := logs.Open(t.Context(), logged, &corev1.PodLogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer brisk.Close()
	if n, err := io.Copy(io.Discard, brisk); n != 20*1000*1001 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func startLog(t *testing.T, root string) *os.File {
	t.Helper()
	dir := filepath.Join(root, "default_p_u", "c")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(dir, "0.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}
