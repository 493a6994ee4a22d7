// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
)

// crossroads lets an agent go from one server to another.
type crossroads struct{ now atomic.Pointer[server] }

func (c *crossroads) dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, a string) (net.Conn, error) { return c.now.Load().dial(ctx, a) }),
	}
}

// goTo halts the server that the agent is connected to, and has it find s.
func (c *crossroads) goTo(s *server) {
	c.now.Load().halt()
	c.now.Store(s)
	if s.stop == nil {
		s.start()
	}
	time.Sleep(time.Minute)
	synctest.Wait()
}

// An agent whose server has another store keeps each pod that it had: one of the same
// name waits, until the operator adopts the other store.
func TestPodsOfAnotherStoreDisturbNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home, other := newServer(t), newServer(t)
		var way crossroads
		way.now.Store(home)
		a := newAgentOf(t, "id-1", way.dialOptions())
		kept := home.createPod("web").UID
		time.Sleep(time.Second)

		twin, fresh := other.createPod("web").UID, other.createPod("new").UID
		way.goTo(other)
		a.has(map[types.UID]string{kept: "web", fresh: "new"})

		way.goTo(home)
		a.has(map[types.UID]string{kept: "web"})
		if a.removed[kept] || a.removed[twin] {
			t.Errorf("removed %v", a.removed)
		}

		way.goTo(other)
		if err := os.Remove(a.file); err != nil {
			t.Fatal(err)
		}
		way.goTo(other)
		a.has(map[types.UID]string{twin: "web", fresh: "new"})
	})
}

// That a pod is deleted which waits for its name is acknowledged by the node.
func TestPodOfAnotherStoreIsDeletedWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home, other := newServer(t), newServer(t)
		var way crossroads
		way.now.Store(home)
		a := newAgentOf(t, "id-1", way.dialOptions())
		kept := home.createPod("web").UID
		time.Sleep(time.Second)
		twin := other.createPod("web")
		way.goTo(other)
		other.deletePod("web", 30)
		time.Sleep(time.Second)
		synctest.Wait()
		if !a.removed[twin.UID] {
			t.Fatal("the sync loop was not told of the pod's end")
		}
		a.statuses.TerminatePod(twin) // as a worker does
		time.Sleep(time.Second)
		if _, err := other.registry.Get(t.Context(), api.Pods, "default", "web"); !apierrors.IsNotFound(err) {
			t.Errorf("the record is still there: %v", err)
		}
		a.has(map[types.UID]string{kept: "web"})
	})
}

// has compares what the sync loop holds.
func (a *agent) has(want map[types.UID]string) {
	a.t.Helper()
	got := a.holds()
	for uid, name := range want {
		if got[uid] != name {
			a.t.Errorf("pod %s (%s) is missing", name, uid)
		}
		delete(got, uid)
	}
	for uid, name := range got {
		a.t.Errorf("pod %s (%s) should not be there", name, uid)
	}
}
