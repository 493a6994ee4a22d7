// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
	"github.com/berth-run/berth/store/bolt"
)

func newRegistry(t *testing.T) *registry.Registry {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "berth.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return registry.New(s, registry.Options{})
}

func newNodes(t *testing.T, reg Registry, o Options) *Nodes {
	t.Helper()
	n, err := New(reg, o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// presented is what the agent of n1 says, as of that second.
func presented(second int64, ready corev1.ConditionStatus) *corev1.Node {
	at := metav1.Unix(second, 0)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"disk": "ssd"}},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: ready, LastHeartbeatTime: at, LastTransitionTime: at,
			}},
			NodeInfo: corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64"},
		},
	}
}

func TestRegisterCreates(t *testing.T) {
	n := newNodes(t, newRegistry(t), Options{})
	node, err := n.Register(t.Context(), "id-1", presented(100, corev1.ConditionTrue))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"disk": "ssd", "kubernetes.io/hostname": "n1", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
	}
	if !maps.Equal(node.Labels, want) {
		t.Errorf("labels %v", node.Labels)
	}
	if node.Spec.PodCIDR != "10.128.0.0/24" || len(node.Spec.PodCIDRs) != 1 {
		t.Errorf("pod ranges %q, %q", node.Spec.PodCIDR, node.Spec.PodCIDRs)
	}
	if len(node.Status.Conditions) != 1 || node.UID == "" {
		t.Errorf("node %+v", node)
	}
}

// events keeps what is told.
type events []string

func (e *events) Record(about corev1.ObjectReference, eventType, reason, message string) {
	*e = append(*e, fmt.Sprintf("%s %s %s: %s %s", about.Kind, about.Name, about.UID, eventType, reason))
}

func TestRegistrationIsToldOnce(t *testing.T) {
	var told events
	n := newNodes(t, newRegistry(t), Options{Events: &told})
	var node *corev1.Node
	for range 2 {
		var err error
		if node, err = n.Register(t.Context(), "id-1", presented(100, corev1.ConditionTrue)); err != nil {
			t.Fatal(err)
		}
	}
	if want := fmt.Sprintf("Node n1 %s: Normal RegisteredNode", node.UID); len(told) != 1 || told[0] != want {
		t.Errorf("told %q, want %q once", told, want)
	}
}

func TestRegisterKeepsWhatUsersSet(t *testing.T) {
	reg := newRegistry(t)
	n := newNodes(t, reg, Options{})
	first, err := n.Register(t.Context(), "id-1", presented(100, corev1.ConditionTrue))
	if err != nil {
		t.Fatal(err)
	}
	edited := first.DeepCopy()
	edited.Labels["team"] = "blue"
	delete(edited.Labels, "disk")
	edited.Spec.Unschedulable = true
	edited.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
	if _, _, err := reg.Update(t.Context(), api.Nodes, "", "n1", edited, registry.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	again, err := n.Register(t.Context(), "id-1", presented(200, corev1.ConditionTrue))
	if err != nil {
		t.Fatal(err)
	}
	if _, back := again.Labels["disk"]; back || again.Labels["team"] != "blue" {
		t.Errorf("labels %v", again.Labels)
	}
	if !again.Spec.Unschedulable || len(again.Spec.Taints) != 1 || again.Spec.PodCIDR != first.Spec.PodCIDR {
		t.Errorf("spec %+v", again.Spec)
	}
}

func TestLabelThatTheAgentDropsGoes(t *testing.T) {
	n := newNodes(t, newRegistry(t), Options{})
	if _, err := n.Register(t.Context(), "id-1", presented(100, corev1.ConditionTrue)); err != nil {
		t.Fatal(err)
	}
	without := presented(200, corev1.ConditionTrue)
	without.Labels = nil
	node, err := n.Register(t.Context(), "id-1", without)
	if err != nil {
		t.Fatal(err)
	}
	if _, stays := node.Labels["disk"]; stays || node.Labels[corev1.LabelHostname] != "n1" {
		t.Errorf("labels %v", node.Labels)
	}
}

// A Node that a user deleted comes back with the range that its pods have.
func TestRegisterKeepsTheRangeThatAnAgentHas(t *testing.T) {
	n := newNodes(t, newRegistry(t), Options{})
	again := presented(100, corev1.ConditionTrue)
	again.Spec.PodCIDR = "10.128.7.0/24"
	node, err := n.Register(t.Context(), "id-1", again)
	if err != nil {
		t.Fatal(err)
	}
	if node.Spec.PodCIDR != "10.128.7.0/24" {
		t.Errorf("pod range %s", node.Spec.PodCIDR)
	}
}

func TestOnlyChangesOfSubstanceAreWritten(t *testing.T) {
	n := newNodes(t, newRegistry(t), Options{})
	first, err := n.Register(t.Context(), "id-1", presented(100, corev1.ConditionTrue))
	if err != nil {
		t.Fatal(err)
	}
	again, err := n.Register(t.Context(), "id-1", presented(200, corev1.ConditionTrue))
	if err != nil {
		t.Fatal(err)
	}
	if again.ResourceVersion != first.ResourceVersion {
		t.Error("a node that says nothing new was written")
	}
	if err := n.UpdateStatus(t.Context(), "n1", &presented(300, corev1.ConditionFalse).Status); err != nil {
		t.Fatal(err)
	}
	changed, err := n.get(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	c := changed.Status.Conditions[0]
	if c.Status != corev1.ConditionFalse || c.LastTransitionTime.Unix() != 300 {
		t.Errorf("condition %+v", c)
	}
}

func TestMergeStatusKeepsConditionsOfOthers(t *testing.T) {
	stored := presented(100, corev1.ConditionTrue).Status
	stored.Conditions = append(stored.Conditions, corev1.NodeCondition{Type: "Other", Status: corev1.ConditionTrue})
	merged := mergeStatus(&stored, &presented(200, corev1.ConditionTrue).Status)
	if len(merged.Conditions) != 2 || api.NodeCondition(merged, "Other") == nil {
		t.Errorf("conditions %+v", merged.Conditions)
	}
	ready := api.NodeCondition(merged, corev1.NodeReady)
	if ready.LastTransitionTime.Unix() != 100 || ready.LastHeartbeatTime.Unix() != 200 {
		t.Errorf("ready %+v", ready)
	}
}

func TestInvalidNodeIsRefused(t *testing.T) {
	n := newNodes(t, newRegistry(t), Options{})
	if _, err := n.Register(t.Context(), "id-1", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "Not A Name"}}); !apierrors.IsInvalid(err) {
		t.Errorf("%v, want Invalid", err)
	}
}

func TestRangesAreUniqueUnderConcurrentRegistration(t *testing.T) {
	n := newNodes(t, newRegistry(t), Options{ClusterRange: netip.MustParsePrefix("10.1.0.0/16"), NodeBits: 22})
	var mu sync.Mutex
	owner := map[string]string{}
	var wg sync.WaitGroup
	for i := range 64 {
		for range 2 { // two sessions of each node at once
			wg.Go(func() {
				name := fmt.Sprintf("n%d", i)
				node, err := n.Register(t.Context(), "id-1", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if other, ok := owner[node.Spec.PodCIDR]; ok && other != name {
					t.Errorf("%s and %s both have %s", name, other, node.Spec.PodCIDR)
				}
				owner[node.Spec.PodCIDR] = name
			})
		}
	}
	wg.Wait()
	if len(owner) != 64 {
		t.Errorf("%d ranges for 64 nodes", len(owner))
	}
	if _, err := n.Register(t.Context(), "id-1", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "one-too-many"}}); err == nil {
		t.Error("a 65th /22 was found in a /16")
	}
}

func TestFreeRange(t *testing.T) {
	cluster := netip.MustParsePrefix("10.0.0.0/22")
	for _, test := range []struct {
		used   []string
		wanted string
		want   string
	}{
		{nil, "", "10.0.0.0/24"},
		{[]string{"10.0.0.0/24"}, "", "10.0.1.0/24"},
		{[]string{"10.0.1.0/24", "10.0.0.0/24"}, "", "10.0.2.0/24"},
		{[]string{"10.0.0.0/23"}, "", "10.0.2.0/24"},
		{[]string{"10.0.0.128/26"}, "", "10.0.1.0/24"},
		{[]string{"172.16.0.0/12", "fd00::/64"}, "", "10.0.0.0/24"},
		{[]string{"10.0.0.0/22"}, "", ""},
		{nil, "10.0.3.0/24", "10.0.3.0/24"},
		{[]string{"10.0.3.0/24"}, "10.0.3.0/24", "10.0.0.0/24"},
		{[]string{"10.0.2.0/23"}, "10.0.3.0/24", "10.0.0.0/24"},
		{nil, "10.0.4.0/24", "10.0.0.0/24"},
		{nil, "10.0.2.0/23", "10.0.0.0/24"},
		{nil, "10.0.3.1/24", "10.0.0.0/24"},
		{nil, "nonsense", "10.0.0.0/24"},
	} {
		var used []netip.Prefix
		for _, u := range test.used {
			used = append(used, netip.MustParsePrefix(u))
		}
		got, err := freeRange(cluster, 24, used, test.wanted)
		if (err != nil) != (test.want == "") || err == nil && got.String() != test.want {
			t.Errorf("%q beside %v: %v, %v; want %s", test.wanted, test.used, got, err, test.want)
		}
	}
}

func TestRangesThatDoNotFitAreRefused(t *testing.T) {
	for _, o := range []Options{
		{ClusterRange: netip.MustParsePrefix("fd00::/64")},
		{ClusterRange: netip.MustParsePrefix("10.0.0.0/26"), NodeBits: 24},
		{NodeBits: 31},
	} {
		if _, err := New(nil, o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

func TestPresence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPresence()
		if _, ok := p.LastSeen("n1"); ok || p.Connected("n1") {
			t.Error("a node that nobody has heard of is there")
		}
		older := p.Connect("n1", "id-1")
		newer := p.Connect("n1", "id-2")
		older()
		if !p.Connected("n1") {
			t.Error("the end of the older session ends the newer")
		}
		time.Sleep(time.Minute)
		p.Heartbeat("n1")
		beat := time.Now()
		time.Sleep(time.Minute)
		newer()
		if seen, ok := p.LastSeen("n1"); !ok || !seen.Equal(beat) || p.Connected("n1") {
			t.Errorf("last seen %v, want %v", seen, beat)
		}
	})
}
