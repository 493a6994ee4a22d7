// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// eventTimeout bounds the wait for one event.
const eventTimeout = 30 * time.Second

// event is a watch event of a pod, with the time when it was read.
type event struct {
	Type   watch.EventType
	Object corev1.Pod
	at     time.Time
}

// watchPods watches the default namespace's pods, as any client of REST would.
func (c *cluster) watchPods(b *testing.B) <-chan event {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, c.url+podsPath+"?watch=true", nil)
	if err != nil {
		b.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	events := make(chan event, 1000)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(events)
		decoder := json.NewDecoder(response.Body)
		for {
			var e event
			if decoder.Decode(&e) != nil {
				return
			}
			e.at = time.Now()
			events <- e
		}
	}()
	b.Cleanup(func() {
		response.Body.Close()
		<-ended
	})
	return events
}

// await returns the first event of the named pod that is what is waited for.
func await(b *testing.B, events <-chan event, name, what string, is func(*event) bool) event {
	b.Helper()
	timeout := time.After(eventTimeout)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				b.Fatal("the watch ended")
			}
			if e.Object.Name == name && is(&e) {
				return e
			}
		case <-timeout:
			b.Fatalf("pod %s: not %s after %s", name, what, eventTimeout)
		}
	}
}

func isReady(e *event) bool {
	for _, c := range e.Object.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func isGone(e *event) bool { return e.Type == watch.Deleted }

func isRestarted(e *event) bool {
	all := e.Object.Status.ContainerStatuses
	return len(all) == 1 && all[0].RestartCount == 1 && all[0].State.Running != nil
}
