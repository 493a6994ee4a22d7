// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/agent/podtypes"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

func TestHelloAndInventory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, pod("a"), pod("b"))
		_ = w.objects.Set(&corev1.Secret{ObjectMeta: meta("s")})
		_ = w.objects.Set(&corev1.ConfigMap{ObjectMeta: meta("c")})
		hello, keys := w.session().greet("store-1")
		if hello.GetNode().GetMetadata().GetName() != "n1" || hello.GetStoreId() != "" {
			t.Errorf("hello %v", hello)
		}
		got := map[string]bool{}
		for _, k := range keys {
			got[fmt.Sprintf("%s %s/%s %s %s", k.GetKind(), k.GetNamespace(), k.GetName(), k.GetUid(), k.GetResourceVersion())] = true
		}
		for _, want := range []string{
			"Pod default/a uid-a 7", "Pod default/b uid-b 7", "Secret default/s uid-s 7", "ConfigMap default/c uid-c 7",
		} {
			if !got[want] {
				t.Errorf("the inventory %v lacks %s", got, want)
			}
		}
		synctest.Wait()
		if !w.client.Connected() {
			t.Error("not connected after Welcome")
		}
	})
}

func TestLargeInventoryIsSentInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pods []*corev1.Pod
		for i := range 2500 {
			pods = append(pods, pod(fmt.Sprint(i)))
		}
		w := newWorld(t, pods...)
		if _, keys := w.session().greet("store-1"); len(keys) != 2500 {
			t.Errorf("%d keys", len(keys))
		}
	})
}

func TestUpdatesAreDeliveredInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		server := w.session()
		server.greet("store-1")
		server.secret("s")
		server.pods(nodepb.PodUpdate_ADD, "a", "b")
		server.synced()
		server.pods(nodepb.PodUpdate_UPDATE, "a")
		server.pods(nodepb.PodUpdate_RECONCILE, "a")
		server.pods(nodepb.PodUpdate_DELETE, "a")
		server.pods(nodepb.PodUpdate_REMOVE, "a")
		server.objects(&nodepb.Objects{Removed: []*nodepb.ObjectKey{{Kind: "Secret", Namespace: "default", Name: "s"}}})

		if got := w.delivered(); got != "ADD a b" {
			t.Fatalf("delivered %s", got)
		}
		w.expect("SYNCED", "UPDATE a", "RECONCILE a", "DELETE a", "REMOVE a")
		synctest.Wait()
		if got := w.storeFile(); got != "store-1\n" {
			t.Errorf("store file %q", got)
		}
		if n := len(w.objects.All()); n != 0 {
			t.Errorf("%d objects left", n)
		}
	})
}

// What a pod names is there when the pod is delivered.
func TestObjectsAreSetBeforeThePods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		server := w.session()
		server.greet("store-1")
		for i := range 50 {
			name := fmt.Sprint(i)
			server.secret(name)
			server.pods(nodepb.PodUpdate_ADD, name)
			w.expect("ADD " + name)
			if _, err := w.objects.Secret("default", name); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A session that breaks in the middle of a set delivers neither a removal nor
// the set's end; the next one begins at once, with the whole inventory.
func TestBrokenSessionChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, pod("held"))
		server := w.session()
		server.greet("store-1")
		server.pods(nodepb.PodUpdate_ADD, "a")
		server.end <- status.Error(codes.Unavailable, "restarting")
		began := time.Now()
		w.expect("ADD a")
		server = w.session()
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("the next session began after %v", took)
		}
		if _, keys := server.greet("store-1"); len(keys) != 1 {
			t.Errorf("inventory %v", keys)
		}
		w.nothing()
		server.synced()
		w.expect("SYNCED")
	})
}

func TestBackoffGrowsToItsCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.session().end <- status.Error(codes.Unavailable, "down")
		w.setDown(true)
		time.Sleep(10 * time.Minute)
		w.setDown(false)
		began := time.Now()
		w.session().greet("store-1")
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("back after %v", took)
		}
	})
}

// An agent that was given the name of another's node says so to its operator, and
// comes back as after any failure.
func TestRefusedAgentIsPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		server := w.session()
		if id := server.recv().GetHello().GetNodeId(); id != "1111aaaa" {
			t.Errorf("hello of %q", id)
		}
		began, refusals := time.Now(), 0
		for ; time.Since(began) < time.Minute; refusals++ {
			server.end <- status.Error(codes.AlreadyExists, `node "n1" is connected from another agent`)
			server = w.session()
		}
		if refusals < 12 || refusals > 40 {
			t.Errorf("%d attempts in a minute", refusals)
		}
		if n := strings.Count(w.logged.String(), "level=ERROR"); n != refusals || !strings.Contains(w.logged.String(), "from another agent") {
			t.Errorf("%d errors of %d attempts are logged", n, refusals)
		}
		if w.client.Connected() {
			t.Error("connected")
		}
		server.greet("store-1")
	})
}

// Two agents of one id do not end each other without pause.
func TestSupersededSessionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		server := w.session()
		server.greet("store-1")
		server.end <- status.Error(codes.Aborted, "a newer session of the node has begun")
		began := time.Now()
		w.session()
		if took := time.Since(began); took < 5*time.Second {
			t.Errorf("came back after %v", took)
		}
	})
}

func TestAnotherStoreIsNotSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, pod("held"))
		_ = w.objects.Set(&corev1.Secret{ObjectMeta: meta("s")})
		server := w.session()
		server.greet("store-1")
		server.synced()
		w.expect("SYNCED")
		server.end <- status.Error(codes.Unavailable, "restored elsewhere")

		server = w.session()
		if hello, _ := server.greet("store-2"); hello.GetStoreId() != "store-1" {
			t.Errorf("hello names store %q", hello.GetStoreId())
		}
		server.pods(nodepb.PodUpdate_ADD, "new")
		server.pods(nodepb.PodUpdate_REMOVE, "held")
		server.objects(&nodepb.Objects{Removed: []*nodepb.ObjectKey{{Kind: "Secret", Namespace: "default", Name: "s"}}})
		server.synced()
		w.expect("ADD new")
		w.nothing()
		if _, err := w.objects.Secret("default", "s"); err != nil {
			t.Errorf("the secret is gone: %v", err)
		}
		if got := w.storeFile(); got != "store-1\n" {
			t.Errorf("store file %q", got)
		}
		// What the new store removes by name is removed.
		server.pods(nodepb.PodUpdate_REMOVE, "new")
		w.expect("REMOVE new")

		if err := os.Remove(w.file); err != nil {
			t.Fatal(err)
		}
		server.end <- nil
		server = w.session()
		server.greet("store-2")
		server.synced()
		w.expect("SYNCED")
	})
}

// Whether a store is another one is decided once, with what Hello says: the server
// decides by that too.
func TestStoreIsAdoptedByTheNextHello(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, pod("held"))
		server := w.session()
		server.greet("store-1")
		server.synced()
		w.expect("SYNCED")
		server.end <- status.Error(codes.Unavailable, "restored elsewhere")

		server = w.session()
		hello := server.recv().GetHello()
		if err := os.Remove(w.file); err != nil {
			t.Fatal(err)
		}
		server.send(&nodepb.ServerMessage{Message: &nodepb.ServerMessage_Welcome{Welcome: &nodepb.Welcome{
			StoreId: "store-2", Node: hello.GetNode(),
		}}})
		server.synced()
		w.nothing()
	})
}

func TestStatusesAreSentUntilAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		server := w.session()
		server.greet("store-1")
		report := podtypes.StatusReport{
			Namespace: "default", Name: "a", UID: "uid-a", Version: 3,
			Status: corev1.PodStatus{Phase: corev1.PodFailed}, Terminated: true,
		}
		w.statuses.set(report)
		for range 2 { // once more in the next session
			got := server.recv().GetPodStatus()
			if got.GetUid() != "uid-a" || got.GetVersion() != 3 || got.GetStatus().GetPhase() != "Failed" || !got.GetTerminated() {
				t.Errorf("report %v", got)
			}
			server.end <- nil
			server = w.session()
			server.greet("store-1")
		}
		server.recv()
		server.send(&nodepb.ServerMessage{Message: &nodepb.ServerMessage_StatusAck{StatusAck: &nodepb.StatusAck{
			Uid: "uid-a", Version: 3, Error: "no such pod",
		}}})
		synctest.Wait()
		if w.statuses.pending() != 0 {
			t.Error("a refused report is kept")
		}
	})
}

// Text that is not UTF-8 would end the session each time it is sent.
func TestPoisonedStatusIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		server := w.session()
		server.greet("store-1")
		w.statuses.set(podtypes.StatusReport{UID: "bad", Version: 1, Status: corev1.PodStatus{Message: "\xff"}})
		synctest.Wait()
		w.statuses.set(podtypes.StatusReport{UID: "good", Version: 2})
		if got := server.recv().GetPodStatus().GetUid(); got != "good" {
			t.Errorf("report of %q", got)
		}
	})
}

func TestEventsHeartbeatsAndNodeStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		server := w.session()
		server.greet("store-1")
		began := time.Now()
		w.events <- &corev1.Event{ObjectMeta: meta("e"), Reason: "Started"}
		if got := server.recv().GetEvent().GetEvent().GetReason(); got != "Started" {
			t.Errorf("event %q", got)
		}
		w.node.set(corev1.ConditionFalse)
		if got := server.recv().GetNodeStatus().GetStatus().GetConditions()[0].GetStatus(); got != "False" {
			t.Errorf("node ready %q", got)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("they took %v", took)
		}
		for i := range 3 {
			// Said again, the same is not worth a message.
			w.node.set(corev1.ConditionFalse)
			if m := server.recv(); m.GetHeartbeat() == nil {
				t.Errorf("message %v, want a heartbeat", m)
			}
			if at := time.Since(began); at != time.Duration(i+1)*10*time.Second {
				t.Errorf("heartbeat after %v", at)
			}
		}
	})
}

func TestSilentServerIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		server := w.session()
		server.greet("store-1")
		time.Sleep(time.Minute)
		w.setDown(true)
		close(w.frozen)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if w.client.Connected() {
			t.Error("20 s after the server fell silent the session is still there")
		}
	})
}

func TestServerWithoutWelcomeIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.session()
		began := time.Now()
		w.session()
		if took := time.Since(began); took < welcomeWithin || took > 2*welcomeWithin {
			t.Errorf("given up after %v", took)
		}
	})
}

func TestUnreadableStoreFileIsNamed(t *testing.T) {
	dir := t.TempDir()
	if _, err := readStoreID(dir); err == nil {
		t.Error("a directory was read as the store file")
	}
	if err := writeStoreID(dir+"/missing/store", "s"); err == nil {
		t.Error("a file was written into a directory that is not there")
	}
}
