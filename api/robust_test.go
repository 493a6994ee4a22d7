// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"math"
	"math/rand"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/api/table"
	"github.com/berth-run/berth/cli/describe"
)

// TestNoPodMakesTheServerPanic: whatever a pod says, it is defaulted, judged and shown.
func TestNoPodMakesTheServerPanic(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for seed := range int64(150) {
		fill := randomPods(seed)
		pod, other := &corev1.Pod{}, &corev1.Pod{}
		fill.Fill(pod)
		fill.Fill(other)
		for _, p := range []*corev1.Pod{pod, other} {
			api.ValidateCreate(api.Pods, p) // as no default is set yet
			api.Default(p)
			judge(p, other)
			api.Warnings(p)
			api.References(p)
			api.QoSClass(p)
			api.PodRequests(p)
			api.PodReserved(p)
			api.OpOf(p, other)
			table.Row(api.Pods, p, now)
			describe.Object(p, describe.Related{}, now)
		}
	}
}

func judge(pod, other *corev1.Pod) {
	api.ValidateCreate(api.Pods, pod)
	api.ValidateUpdate(api.Pods, pod, other)
	api.ValidateStatusUpdate(api.Pods, pod, other)
	api.ValidateEphemeralUpdate(api.Pods, pod, other)
	api.ValidateResize(api.Pods, api.Resized(pod, other), other)
}

// Words and numbers that code is apt to look at, beside those that say nothing.
var (
	words = []string{"", "a", "A b", "..", "/", "/a:b", "\x00", "\xff", "Always", "Never", "Localhost", "In", "cpu", "memory",
		"hugepages-", "hugepages-2Mi", "example.com/gpu", "metadata.labels['", "metadata.labels['']", "limits.cpu", "limits.", "linux", "Memory"}
	numbers = []int64{0, 1, -1, 65536, math.MaxInt32, math.MinInt64, math.MaxInt64}
	amounts = []string{"0", "1", "-1", "100m", "1n", "1Ei", "-9223372036854775808", "9223372036854775807", "1e30"}
)

func randomPods(seed int64) *randfill.Filler {
	pick := func(c randfill.Continue, n int) int { return c.Intn(n) }
	return randfill.New().RandSource(rand.NewSource(seed)).NilChance(0.4).NumElements(0, 2).MaxDepth(12).Funcs(
		func(s *string, c randfill.Continue) { *s = words[pick(c, len(words))] },
		func(n *int64, c randfill.Continue) { *n = numbers[pick(c, len(numbers))] },
		func(n *int32, c randfill.Continue) { *n = int32(numbers[pick(c, len(numbers))]) },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = resource.MustParse(amounts[pick(c, len(amounts))])
		},
		func(v *metav1.Time, c randfill.Continue) { *v = metav1.Unix(numbers[pick(c, len(numbers)-2)], 0) },
		func(v *metav1.FieldsV1, _ randfill.Continue) { *v = *metav1.NewFieldsV1("{}") },
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = intstr.IntOrString{Type: intstr.Type(pick(c, 3)), IntVal: int32(c.Int63()), StrVal: words[pick(c, len(words))]}
		},
	)
}
