// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/test/internal/testimage"
)

const (
	// stubborn is an image whose program ends only when it is killed.
	stubborn = "berth.test/stubborn:1"
	// burstTimeout bounds the wait for all pods of a burst to come or to go.
	burstTimeout = 10 * time.Minute
)

// BenchmarkBurst creates many pods at once on one node, and deletes them at once. It
// takes minutes, so it runs by its name alone:
//
//	go test -run '^$' -bench Burst -benchtime 1x ./test/bench
func BenchmarkBurst(b *testing.B) {
	images := b.TempDir()
	saveStubborn(b, images)
	c := newCluster(b, "--images-dir", images)
	events := c.watchPods(b)
	c.burst(b, events, "warm-up", stubborn, 2)
	for _, pods := range []int{50, 100} {
		for _, program := range []struct{ does, image string }{{"ends at SIGTERM", image}, {"is killed", stubborn}} {
			b.Run(fmt.Sprintf("%d pods/%s", pods, program.does), func(b *testing.B) {
				var ready, gone time.Duration
				failed := c.failedSteps(b)
				for turn := range b.N {
					r, g := c.burst(b, events, fmt.Sprintf("burst-%d-%d-%d", pods, len(program.does), turn), program.image, pods)
					ready, gone = ready+r, gone+g
				}
				b.ReportMetric(ready.Seconds()/float64(b.N), "s-to-ready")
				b.ReportMetric(gone.Seconds()/float64(b.N), "s-to-gone")
				b.ReportMetric(float64(c.failedSteps(b)-failed), "failed-steps")
			})
		}
	}
}

// burst returns how long it took until all pods were ready, and then until all
// were gone.
func (c *cluster) burst(b *testing.B, events <-chan event, prefix, image string, pods int) (ready, gone time.Duration) {
	b.Helper()
	grace := int64(1)
	begin := time.Now()
	for i := range pods {
		pod := &corev1.Pod{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", prefix, i)},
			Spec: corev1.PodSpec{
				TerminationGracePeriodSeconds: &grace,
				Containers:                    []corev1.Container{{Name: containerName, Image: image}},
			},
		}
		if err := c.call(b.Context(), http.MethodPost, podsPath, pod, nil); err != nil {
			b.Fatal(err)
		}
	}
	ready = awaitAll(b, events, pods, "ready", isReady).Sub(begin)
	time.Sleep(settle)

	begin = time.Now()
	for i := range pods {
		if err := c.call(b.Context(), http.MethodDelete, fmt.Sprintf("%s/%s-%d", podsPath, prefix, i), nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	return ready, awaitAll(b, events, pods, "gone", isGone).Sub(begin)
}

// awaitAll returns when the last of so many pods has become what is waited for.
func awaitAll(b *testing.B, events <-chan event, pods int, what string, is func(*event) bool) time.Time {
	b.Helper()
	timeout := time.After(burstTimeout)
	done := map[string]bool{}
	for {
		select {
		case e, ok := <-events:
			if !ok {
				b.Fatal("the watch ended")
			}
			if is(&e) {
				done[e.Object.Name] = true
			}
			if len(done) == pods {
				return e.at
			}
		case <-timeout:
			b.Fatalf("%d of %d pods are %s after %s", len(done), pods, what, burstTimeout)
		}
	}
}

// failedSteps counts what the agent had to do again.
func (c *cluster) failedSteps(b *testing.B) int {
	b.Helper()
	log, err := os.ReadFile(filepath.Join(filepath.Dir(c.stateDir), "agent.log"))
	if err != nil {
		b.Fatal(err)
	}
	return bytes.Count(log, []byte("pod step failed"))
}

// saveStubborn writes the stubborn image where a node imports it from.
func saveStubborn(b *testing.B, dir string) {
	b.Helper()
	program, err := testimage.Build("../..", b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	image, err := testimage.New(program, "1", "ignore")
	if err != nil {
		b.Fatal(err)
	}
	tag, err := name.NewTag(stubborn)
	if err != nil {
		b.Fatal(err)
	}
	if err := tarball.WriteToFile(filepath.Join(dir, "stubborn.tar"), tag, image); err != nil {
		b.Fatal(err)
	}
}
