// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/containerd"
	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/cri/fault"
	"github.com/berth-run/berth/agent/cri/faultproxy"
	"github.com/berth-run/berth/agent/podtypes"
)

// node is a Runtime on a containerd of its own, with a proxy between that makes
// calls go wrong.
type node struct {
	*harness
	raw    *cri.Client
	faults fault.Script
	pods   int
}

// newNode starts containerd. Without root or the node runtime the test is skipped,
// but fails where CI=true promises both.
func newNode(t testing.TB) *node {
	t.Helper()
	bin, err := filepath.Abs("../../bin/runtime")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "containerd")); err != nil || os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatalf("needs root and the node runtime of `make runtime`: %v", err)
		}
		t.Skip("needs root and the node runtime of `make runtime`")
	}
	endpoint, cgroup := startContainerd(t, bin)
	n := &node{harness: &harness{events: &events{}, objects: objects{}, dir: t.TempDir()}}
	n.raw = dial(t, endpoint)
	n.Runtime = newRuntime(t, n.harness, dial(t, n.startProxy(t, strings.TrimPrefix(endpoint, "unix://"))))
	n.cfg.CgroupParent = func(pod *corev1.Pod) string { return cgroup + "/besteffort/pod" + string(pod.UID) }
	waitUntil(t, "a network", func() bool {
		s, err := n.Status(t.Context())
		return err == nil && s.Ready && s.NetworkReady
	})
	return n
}

func startContainerd(t testing.TB, bin string) (endpoint, cgroup string) {
	t.Helper()
	random := make([]byte, 4)
	if _, err := rand.Read(random); err != nil {
		t.Fatal(err)
	}
	id := hex.EncodeToString(random)
	c, err := containerd.New(containerd.Config{
		Dir: t.TempDir(), RunDir: filepath.Join("/run/berth", id), BinDir: bin, NodeID: id,
		PauseTar: filepath.Join(bin, "pause.tar"), Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("containerd: %v", err)
		}
		if err := c.Teardown(context.Background()); err != nil {
			t.Errorf("teardown: %v", err)
		}
	})
	for _, step := range []func() error{
		func() error { return c.Ready(t.Context()) },
		func() error { return c.ImportImages(t.Context()) },
		func() error { return c.WriteNetwork(t.Context(), netip.MustParsePrefix("10.251.9.0/24")) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return c.Endpoint(), c.CgroupRoot()
}

func (n *node) startProxy(t testing.TB, target string) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "cri.sock")
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- faultproxy.Run(ctx, socket, target, &n.faults, ready) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-ready
	return "unix://" + socket
}

func dial(t testing.TB, endpoint string) *cri.Client {
	t.Helper()
	c, err := cri.Dial(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func waitUntil(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("no %s after 20 s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// pausePod is a new pod of a container that ends at SIGTERM.
func (n *node) pausePod(containers ...string) *corev1.Pod {
	n.pods++
	pod := testPod(containers...)
	pod.Name = fmt.Sprintf("pod-%d", n.pods)
	pod.UID = types.UID(fmt.Sprintf("uid-%d", n.pods))
	for i := range pod.Spec.Containers {
		pod.Spec.Containers[i].Image = containerd.PauseImage
	}
	return pod
}

func TestContainerd(t *testing.T) {
	n := newNode(t)
	hints := make(chan types.UID, 1000)
	watchCtx, stopWatch := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	go func() { watched <- n.WatchEvents(watchCtx, func(hint podtypes.Hint) { hints <- hint.UID }) }()
	defer func() { stopWatch(); <-watched }()

	t.Run("runs a pod and removes all of it", func(t *testing.T) {
		pod := n.pausePod("web", "log")
		n.mustSync(t, pod)
		s := n.status(t, pod)
		for _, name := range []string{"web", "log"} {
			if c := s.Latest(name); c == nil || c.State != podtypes.ContainerRunning || c.Image != containerd.PauseImage {
				t.Errorf("%s: %+v", name, c)
			}
		}
		if len(s.Current().IPs) == 0 || s.Current().HostNetwork {
			t.Errorf("sandbox: %+v", s.Current())
		}
		if r := n.mustSync(t, pod); r.Changed {
			t.Error("a second sync changed something")
		}
		n.mustEnd(t, pod)
	})

	t.Run("restarts a killed container and tells of it", func(t *testing.T) {
		pod := n.pausePod("web")
		n.mustSync(t, pod)
		before := n.status(t, pod).Latest("web")
		drain(hints)
		start := time.Now()
		if err := unix.Kill(n.pid(t, before.ID), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for n.state(t, pod, "web") == podtypes.ContainerRunning {
			if uid := <-hints; uid != pod.UID {
				t.Errorf("hint of %s", uid)
			}
		}
		n.mustSync(t, pod)
		t.Logf("killed to new process: %s", time.Since(start))
		after := n.status(t, pod)
		if c := after.Latest("web"); c.State != podtypes.ContainerRunning || c.RestartCount != 1 {
			t.Errorf("web: %+v", c)
		}
		if c := after.Containers[1]; c.ExitCode != 137 {
			t.Errorf("the killed one: %+v", c)
		}
		n.mustEnd(t, pod)
	})

	t.Run("B093: a sandbox whose namespace lost its address is made anew", func(t *testing.T) {
		pod := n.pausePod("web")
		n.mustSync(t, pod)
		before := n.status(t, pod).Current()
		if uids, err := n.checkAddresses(t.Context()); err != nil || len(uids) != 0 {
			t.Fatalf("a sound sandbox: %v, %v", uids, err)
		}
		network, err := n.sandboxAddress(t.Context(), before.ID)
		if err != nil || network.path == "" {
			t.Fatalf("network of the sandbox: %+v, %v", network, err)
		}
		flushAddresses(t, network.path)
		if uids, err := n.checkAddresses(t.Context()); err != nil || !slices.Equal(uids, []types.UID{pod.UID}) {
			t.Fatalf("lost: %v, %v", uids, err)
		}
		n.mustSync(t, pod)
		after := n.status(t, pod).Current()
		if after.ID == before.ID || len(after.IPs) == 0 {
			t.Fatalf("sandbox after: %+v", after)
		}
		network, err = n.sandboxAddress(t.Context(), after.ID)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := namespaceAddresses(network.path); err != nil || found[after.IPs[0]] != onBridge {
			t.Errorf("the namespace has %v, %v; the sandbox %v", found, err, after.IPs)
		}
		n.mustEnd(t, pod)
	})

	t.Run("a sandbox that lost its bridge is made anew", func(t *testing.T) {
		pod := n.pausePod("web")
		n.mustSync(t, pod)
		before := n.status(t, pod).Current()
		if uids, err := n.checkAddresses(t.Context()); err != nil || len(uids) != 0 {
			t.Fatalf("a sound sandbox: %v, %v", uids, err)
		}
		removeBridge(t, before.IPs[0])
		if uids, err := n.checkAddresses(t.Context()); err != nil || !slices.Equal(uids, []types.UID{pod.UID}) {
			t.Fatalf("lost: %v, %v", uids, err)
		}
		n.mustSync(t, pod)
		if after := n.status(t, pod).Current(); after.ID == before.ID || len(after.IPs) == 0 {
			t.Errorf("sandbox after: %+v", after)
		}
		if uids, err := n.checkAddresses(t.Context()); err != nil || len(uids) != 0 {
			t.Errorf("the new sandbox: %v, %v", uids, err)
		}
		n.mustEnd(t, pod)
	})

	t.Run("starts a pod anew at once whose sandbox someone stopped", func(t *testing.T) {
		pod := n.pausePod("web")
		n.mustSync(t, pod)
		before := n.status(t, pod).Current().ID
		stopped := make(chan error, 1)
		go func() {
			stopped <- second(n.raw.Runtime.StopPodSandbox(t.Context(), &runtimeapi.StopPodSandboxRequest{PodSandboxId: before}))
		}()
		waitUntil(t, "container in a new sandbox", func() bool {
			s := n.status(t, pod)
			c := s.Latest("web")
			if s.Current().ID != before && c.State == podtypes.ContainerRunning && c.SandboxID == s.Current().ID {
				return true
			}
			if r := n.SyncPod(t.Context(), pod, s, nil); r.RetryAfter > 0 && !s.Current().Ready {
				t.Errorf("the container waits %s for its new sandbox; status %+v", r.RetryAfter, s)
			}
			return false
		})
		if err := <-stopped; err != nil {
			t.Logf("the stop by hand: %v", err) // the agent stops it too
		}
		n.mustEnd(t, pod)
	})

	t.Run("runs a pod in the host's network", func(t *testing.T) {
		pod := n.pausePod("web")
		pod.Spec.HostNetwork = true
		n.mustSync(t, pod)
		if s := n.status(t, pod); !s.Current().HostNetwork || len(s.Current().IPs) != 0 {
			t.Errorf("sandbox: %+v", s.Current())
		}
		if r := n.mustSync(t, pod); r.Changed {
			t.Error("a second sync changed something")
		}
		n.mustEnd(t, pod)
	})

	t.Run("B011", func(t *testing.T) {
		pod := n.pausePod("c")
		pod.Spec.Containers[0].Command = []string{"/does/not/exist"}
		if r := n.sync(t, pod); r.Reasons["c"].Reason != "RunContainerError" {
			t.Errorf("reasons: %v", r.Reasons)
		}
		if c := n.status(t, pod).Latest("c"); c.ExitCode != 128 || c.Reason != "StartError" {
			t.Errorf("c: %+v", c)
		}
		n.mustEnd(t, pod)
	})

	t.Run("B012", func(t *testing.T) {
		pod := n.pausePod("web")
		n.mustSync(t, pod)
		s := n.status(t, pod)
		for _, err := range []error{
			second(n.raw.Runtime.RemoveContainer(t.Context(), &runtimeapi.RemoveContainerRequest{ContainerId: s.Latest("web").ID})),
			second(n.raw.Runtime.RemovePodSandbox(t.Context(), &runtimeapi.RemovePodSandboxRequest{PodSandboxId: s.Current().ID})),
			n.KillPod(t.Context(), pod, s, time.Minute),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		n.mustEnd(t, pod)
	})

	t.Run("B031", func(t *testing.T) {
		pod := n.pausePod("web")
		n.faults.Add(fault.Rule{Method: "StartContainer", Times: 1, Code: codes.Unavailable})
		if r := n.sync(t, pod); r.Err == nil {
			t.Error("the first sync did not fail")
		}
		n.mustSync(t, pod)
		if got := n.state(t, pod, "web"); got != podtypes.ContainerRunning {
			t.Errorf("web is %q", got)
		}
		n.mustEnd(t, pod)
	})

	// An agent that ends while it starts a pod leaves the runtime anywhere between.
	t.Run("B093", func(t *testing.T) {
		for delay := 10 * time.Millisecond; delay < 150*time.Millisecond; delay += 20 * time.Millisecond {
			pod := n.pausePod("web")
			ctx, cancel := context.WithTimeout(t.Context(), delay)
			n.SyncPod(ctx, pod, nil, nil)
			cancel()
			waitUntil(t, "running container", func() bool {
				n.sync(t, pod)
				return n.state(t, pod, "web") == podtypes.ContainerRunning
			})
			s := n.status(t, pod)
			if s.Current() == nil || !s.Current().Ready || len(s.Current().IPs) == 0 || s.Latest("web").SandboxID != s.Current().ID {
				t.Errorf("called off after %s: %+v", delay, s)
			}
			n.mustEnd(t, pod)
		}
	})

	// An agent that dies while it starts a container can leave one that CRI alone
	// cannot remove, about one time in fifty.
	t.Run("removes what a broken start left", func(t *testing.T) {
		pod := n.pausePod("web")
		sandbox, container, err := n.bareStart(t.Context(), pod)
		if err != nil {
			t.Fatal(err)
		}
		for attempt := range 20 {
			waitUntil(t, "removal", func() bool { return n.removeContainer(t.Context(), container) == nil })
			container, err = n.bareCreate(t.Context(), pod, sandbox, uint32(attempt))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(25+attempt)*time.Millisecond)
			// Whether it starts or fails is chance.
			_, _ = n.raw.Runtime.StartContainer(ctx, &runtimeapi.StartContainerRequest{ContainerId: container})
			cancel()
		}
		waitUntil(t, "end of the pod", func() bool { return n.RemovePod(t.Context(), pod.UID) == nil })
	})

	t.Run("recovers from lost replies", func(t *testing.T) {
		pod := n.pausePod("web")
		for _, method := range []string{"RunPodSandbox", "CreateContainer", "StartContainer"} {
			n.faults.Add(fault.Rule{Method: method, Times: 1, DropReply: true})
		}
		for range 4 {
			n.sync(t, pod)
		}
		if got := n.state(t, pod, "web"); got != podtypes.ContainerRunning {
			t.Errorf("web is %q", got)
		}
		n.mustEnd(t, pod)
	})
}

func second[T any](_ T, err error) error { return err }

func drain(hints <-chan types.UID) {
	for len(hints) > 0 {
		<-hints
	}
}

// pid returns a container's process.
func (n *node) pid(t testing.TB, container string) int {
	t.Helper()
	r, err := n.raw.Runtime.ContainerStatus(t.Context(), &runtimeapi.ContainerStatusRequest{ContainerId: container, Verbose: true})
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(r.GetInfo()["info"]), &info); err != nil || info.PID == 0 {
		t.Fatalf("pid of %s: %v in %v", container, err, r.GetInfo())
	}
	return info.PID
}

// BenchmarkPod runs and ends the same pod through SyncPod and by bare calls in
// turn, and reports the medians.
func BenchmarkPod(b *testing.B) {
	n := newNode(b)
	var start, floor, end, endFloor, status, image []time.Duration
	timed := func(into *[]time.Duration, f func() error) {
		b.Helper()
		begin := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		*into = append(*into, time.Since(begin))
	}
	for b.Loop() {
		pod := n.pausePod("web")
		timed(&start, func() error { return n.SyncPod(b.Context(), pod, &podtypes.PodStatus{}, nil).Err })
		var s *podtypes.PodStatus
		timed(&status, func() (err error) { s, err = n.PodStatus(b.Context(), pod.UID); return err })
		timed(&image, func() error {
			return second(n.cfg.CRI.Images.ImageStatus(b.Context(), &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: containerd.PauseImage}}))
		})
		timed(&end, func() error {
			if err := n.KillPod(b.Context(), pod, s, time.Second); err != nil {
				return err
			}
			return n.RemovePod(b.Context(), pod.UID)
		})

		pod = n.pausePod("web")
		var sandbox, container string
		timed(&floor, func() (err error) { sandbox, container, err = n.bareStart(b.Context(), pod); return err })
		timed(&endFloor, func() error { return n.bareEnd(b.Context(), sandbox, container) })
	}
	b.ReportMetric(median(start), "start-ms")
	b.ReportMetric(median(floor), "start-floor-ms")
	b.ReportMetric(median(end), "end-ms")
	b.ReportMetric(median(endFloor), "end-floor-ms")
	b.ReportMetric(median(status), "PodStatus-ms")
	b.ReportMetric(median(image), "ImageStatus-ms")
}

// bareStart makes the calls of a pod's start and no others.
func (n *node) bareStart(ctx context.Context, pod *corev1.Pod) (sandbox, container string, err error) {
	config, _, err := n.sandboxConfig(pod, 0)
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(filepath.Join(config.LogDirectory, "web"), 0o755); err != nil {
		return "", "", err
	}
	s, err := n.raw.Runtime.RunPodSandbox(ctx, &runtimeapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		return "", "", err
	}
	container, err = n.bareCreate(ctx, pod, s.GetPodSandboxId(), 0)
	if err != nil {
		return "", "", err
	}
	_, err = n.raw.Runtime.StartContainer(ctx, &runtimeapi.StartContainerRequest{ContainerId: container})
	return s.GetPodSandboxId(), container, err
}

func (n *node) bareCreate(ctx context.Context, pod *corev1.Pod, sandbox string, attempt uint32) (string, error) {
	sandboxConfig, _, err := n.sandboxConfig(pod, 0)
	if err != nil {
		return "", err
	}
	config, err := n.containerConfig(pod, &pod.Spec.Containers[0], attempt, nil)
	if err != nil {
		return "", err
	}
	config.Image = &runtimeapi.ImageSpec{Image: containerd.PauseImage}
	created, err := n.raw.Runtime.CreateContainer(ctx, &runtimeapi.CreateContainerRequest{
		PodSandboxId: sandbox, Config: config, SandboxConfig: sandboxConfig,
	})
	return created.GetContainerId(), err
}

func (n *node) bareEnd(ctx context.Context, sandbox, container string) error {
	if _, err := n.raw.Runtime.StopContainer(ctx, &runtimeapi.StopContainerRequest{ContainerId: container, Timeout: 1}); err != nil {
		return err
	}
	if _, err := n.raw.Runtime.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: sandbox}); err != nil {
		return err
	}
	if _, err := n.raw.Runtime.RemoveContainer(ctx, &runtimeapi.RemoveContainerRequest{ContainerId: container}); err != nil {
		return err
	}
	return second(n.raw.Runtime.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: sandbox}))
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}

// removeBridge removes the interface by which the host reaches an address.
func removeBridge(t *testing.T, address string) {
	t.Helper()
	routes, err := netlink.RouteGet(net.ParseIP(address))
	if err != nil || len(routes) != 1 {
		t.Fatalf("route to %s: %v, %v", address, routes, err)
	}
	bridge, err := netlink.LinkByIndex(routes[0].LinkIndex)
	if err == nil && bridge.Type() != "bridge" {
		err = fmt.Errorf("%s is a %s", bridge.Attrs().Name, bridge.Type())
	}
	if err == nil {
		err = netlink.LinkDel(bridge)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// flushAddresses takes every global address away in a network namespace.
func flushAddresses(t *testing.T, path string) {
	t.Helper()
	ns, err := netns.GetFromPath(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	handle, err := netlink.NewHandleAt(ns)
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	link, err := handle.LinkByName("eth0")
	if err != nil {
		t.Fatal(err)
	}
	list, err := handle.AddrList(link, netlink.FAMILY_V4)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if err := handle.AddrDel(link, &a); err != nil {
			t.Fatal(err)
		}
	}
}
