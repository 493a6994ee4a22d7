// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/containerd"
)

const (
	podsPath      = "/api/v1/namespaces/default/pods"
	containerName = "c"
	// image ends at SIGTERM at once, and every node has it.
	image = containerd.PauseImage
	// settle lets a new process come to the point where it takes signals: one sent
	// before the first instruction of a container's first process has no effect.
	// Between two pods it keeps what one leaves to do out of the figures of the next.
	settle = 200 * time.Millisecond
	// rest is how long memory is let come to rest before it is read.
	rest = 5 * time.Second
)

// BenchmarkPod does in each turn once what berth is measured by, and once the same
// by direct calls, and prints a table at its end.
func BenchmarkPod(b *testing.B) {
	c := newCluster(b)
	w := &workload{b: b, cluster: c, floor: newFloor(c), events: c.watchPods(b)}
	time.Sleep(rest)
	w.fresh = c.memory(b)
	w.berthTurn()
	time.Sleep(rest)
	w.idle = c.memory(b)
	w.floorTurn()
	w.start, w.floorStart, w.end, w.floorEnd = nil, nil, nil, nil // those were to warm up

	for b.Loop() {
		w.floorTurn()
		w.berthTurn()
		w.restartTurn()
	}
	w.after = c.memory(b)
	b.ReportMetric(w.start.median()/w.floorStart.median(), "start-ratio")
	b.ReportMetric(w.end.median()/w.floorEnd.median(), "end-ratio")
	b.ReportMetric(w.restart.median(), "restart-ms")
	b.ReportMetric(w.idle.sum(), "rss-MiB")
	w.print(os.Stdout)
}

func (c *cluster) memory(b *testing.B) memory {
	b.Helper()
	return memory{server: rss(b, c.server), agent: rss(b, c.agent)}
}

// workload runs pods one after another and keeps the figures.
type workload struct {
	figures
	b       *testing.B
	cluster *cluster
	floor   *floor
	events  <-chan event
	pods    int
}

// nextName is used once: names of the runs' pods never meet.
func (w *workload) nextName() string {
	w.pods++
	return fmt.Sprintf("pod-%d", w.pods)
}

func (w *workload) floorTurn() {
	w.b.Helper()
	time.Sleep(settle)
	begin := time.Now()
	pod, err := w.floor.start(w.b.Context(), w.nextName())
	if err != nil {
		w.b.Fatal(err)
	}
	w.floorStart = append(w.floorStart, time.Since(begin))

	time.Sleep(settle)
	begin = time.Now()
	if err := w.floor.end(w.b.Context(), pod); err != nil {
		w.b.Fatal(err)
	}
	w.floorEnd = append(w.floorEnd, time.Since(begin))
}

func (w *workload) berthTurn() {
	w.b.Helper()
	name := w.nextName()
	time.Sleep(settle)
	begin := time.Now()
	w.start = append(w.start, w.post(name).at.Sub(begin))

	time.Sleep(settle)
	begin = time.Now()
	w.end = append(w.end, w.delete(name).at.Sub(begin))
}

// restartTurn kills the process of a fresh pod's container.
func (w *workload) restartTurn() {
	w.b.Helper()
	name := w.nextName()
	before := w.post(name).Object.Status.ContainerStatuses[0]
	_, pid := w.inspect(before.ContainerID)
	time.Sleep(settle)

	begin := time.Now()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		w.b.Fatal(err)
	}
	seen := await(w.b, w.events, name, "restarted", isRestarted)
	w.seen = append(w.seen, seen.at.Sub(begin))
	started, _ := w.inspect(seen.Object.Status.ContainerStatuses[0].ContainerID)
	w.restart = append(w.restart, started.Sub(begin))

	time.Sleep(settle)
	w.delete(name)
}

// post creates a pod and waits until the watch shows it ready.
func (w *workload) post(name string) event {
	w.b.Helper()
	return w.postPod(newPod(name))
}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: containerName, Image: image}}},
	}
}

func (w *workload) postPod(pod *corev1.Pod) event {
	w.b.Helper()
	if err := w.cluster.call(w.b.Context(), http.MethodPost, podsPath, pod, nil); err != nil {
		w.b.Fatal(err)
	}
	return await(w.b, w.events, pod.Name, "ready", isReady)
}

// delete deletes a pod and waits until the watch shows that it is gone.
func (w *workload) delete(name string) event {
	w.b.Helper()
	if err := w.cluster.call(w.b.Context(), http.MethodDelete, podsPath+"/"+name, nil, nil); err != nil {
		w.b.Fatal(err)
	}
	return await(w.b, w.events, name, "gone", isGone)
}

// inspect asks the runtime when a container, by its ID in a pod's status, was
// started and which process it is.
func (w *workload) inspect(containerID string) (started time.Time, pid int) {
	w.b.Helper()
	request := &runtimeapi.ContainerStatusRequest{ContainerId: strings.TrimPrefix(containerID, "containerd://"), Verbose: true}
	answer, err := w.cluster.cri.Runtime.ContainerStatus(w.b.Context(), request)
	if err != nil {
		w.b.Fatal(err)
	}
	var info struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(answer.GetInfo()["info"]), &info); err != nil || info.PID == 0 {
		w.b.Fatalf("container %s has no process: %v", containerID, err)
	}
	return time.Unix(0, answer.GetStatus().GetStartedAt()), info.PID
}
