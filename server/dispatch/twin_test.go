// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// refused reads how the session of an agent is refused.
func (a *testAgent) refused() {
	a.t.Helper()
	m, err := a.stream.Recv()
	if status.Code(err) != codes.AlreadyExists {
		a.t.Fatalf("%v, %v, want AlreadyExists", m, err)
	}
	for _, want := range []string{`node "n1" is connected`, "id-of-n1", "--node-name"} {
		if !strings.Contains(err.Error(), want) {
			a.t.Errorf("%v lacks %q", err, want)
		}
	}
}

func TestAnotherAgentOfTheNameIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		first, _ := w.connect("n1")
		began := time.Now()
		for range 3 {
			w.hello("n1", "twin", storeID).refused()
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("refused after %v", took)
		}
		w.createPod(newPod("p", "n1"))
		first.expect("ADD p")
		w.hello("n2", "twin", storeID).welcomed()
	})
}

// The operator is told once of each agent, however often it comes back.
func TestRefusalIsAnEventOfTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		first, _ := w.connect("n1")
		for _, id := range []string{"twin", "twin", "triplet", "twin"} {
			w.hello("n1", id, storeID).refused()
			time.Sleep(time.Second)
		}
		list, err := w.registry.List(t.Context(), api.Events, "", registry.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, obj := range list.Items {
			e := obj.(*corev1.Event)
			told = append(told, e.Type+" "+e.Reason)
			if o := e.InvolvedObject; o.Kind != "Node" || o.Name != "n1" || o.UID != first.node {
				t.Errorf("event of %+v", o)
			}
		}
		equal(t, told, "Warning NodeNameTaken", "Warning NodeNameTaken")
	})
}

// An agent that is gone before it is welcomed leaves nothing behind.
func TestAgentThatIsGoneAfterHelloHoldsNoName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		for range 3 {
			w.hello("n1", "hasty", storeID).cancel()
			synctest.Wait()
			w.hello("n1", "id-of-n1", storeID).welcomed()
			w.open("n1", storeID).cancel()
			synctest.Wait()
		}
	})
}

func TestAnotherAgentGetsInWhenTheSessionHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		first, _ := w.connect("n1")
		w.hello("n1", "twin", storeID).refused()
		first.cancel()
		synctest.Wait()
		w.hello("n1", "twin", storeID).welcomed()
		// Now the first one has to wait.
		if _, err := w.hello("n1", "id-of-n1", storeID).stream.Recv(); status.Code(err) != codes.AlreadyExists {
			t.Errorf("the former agent: %v, want AlreadyExists", err)
		}
	})
}
