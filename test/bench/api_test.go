// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
	corepb "github.com/berth-run/berth/proto/berth/core/v1"
)

const (
	// loadPods are created, listed and deleted in each turn.
	loadPods = 2000
	// listsPerTurn are made one after another.
	listsPerTurn = 10

	mediaJSON  = "application/json"
	mediaProto = "application/vnd.kubernetes.protobuf"
	mediaTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" // as kubectl asks
)

// BenchmarkAPI does in each turn what the API is measured by, with a watcher
// attached: 2,000 pods created through REST, listed in each form, deleted, and the
// same through gRPC; and the creates on the floor's server as well. The pods are
// bound to a node that is not there, so nothing but the server works on them.
func BenchmarkAPI(b *testing.B) {
	dir := b.TempDir()
	w := &apiWorkload{b: b, server: startServer(b, dir), floor: startFloor(b, dir)}
	awaitHTTP(b, w.server.http, "/readyz")
	w.prepare()
	w.turn()
	w.apiFigures = apiFigures{} // that was to warm up
	for b.Loop() {
		w.turn()
	}
	w.report(b)
	w.print(os.Stdout)
}

// apiWorkload makes the turns and keeps the figures.
type apiWorkload struct {
	apiFigures
	b      *testing.B
	server *apiServer
	floor  string

	// What the requests are: made once, so that the turns need not.
	posts, deletes, floorPosts     [][]byte
	grpcCreates, grpcDeletes       [][]byte
	listJSON, listProto, listTable []byte
}

func (w *apiWorkload) prepare() {
	for i := range loadPods {
		pod := loadPod(i)
		body := must(w.b)(json.Marshal(pod))
		w.posts = append(w.posts, rawRequest(http.MethodPost, w.server.http, podsPath, mediaJSON, body))
		w.floorPosts = append(w.floorPosts, rawRequest(http.MethodPost, w.floor, podsPath, mediaJSON, body))
		w.deletes = append(w.deletes, rawRequest(http.MethodDelete, w.server.http, podsPath+"/"+pod.Name, mediaJSON, nil))

		message := &corepb.Pod{}
		api.Raw(message, must(w.b)(pod.Marshal()))
		w.grpcCreates = append(w.grpcCreates, must(w.b)(proto.Marshal(&apipb.CreatePodRequest{
			Namespace: pod.Namespace, Object: &apipb.CreatePodRequest_Pod{Pod: message}})))
		w.grpcDeletes = append(w.grpcDeletes, must(w.b)(proto.Marshal(&apipb.DeleteRequest{Namespace: pod.Namespace, Name: pod.Name})))
	}
	list := func(accept string) []byte {
		return rawRequest(http.MethodGet, w.server.http, podsPath, accept, nil)
	}
	w.listJSON, w.listProto, w.listTable = list(mediaJSON), list(mediaProto), list(mediaTable)
}

// must returns what makes a value and an error into a value, or fails b.
func must(b *testing.B) func([]byte, error) []byte {
	return func(v []byte, err error) []byte {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
}

func (w *apiWorkload) turn() {
	time.Sleep(settle)
	w.floorCreates.add(load(w.b, httpSenders(w.b, w.floor, http.StatusOK, w.floorPosts), loadPods))

	w.create(&w.rest, httpSenders(w.b, w.server.http, http.StatusCreated, w.posts))
	w.jsonList.add(w.list(w.listJSON))
	w.protoList.add(w.list(w.listProto))
	w.tableList.add(w.list(w.listTable))
	w.remove(&w.rest, httpSenders(w.b, w.server.http, http.StatusOK, w.deletes))

	w.create(&w.grpc, grpcSenders(w.b, w.server.grpc, apipb.Pods_Create_FullMethodName, w.grpcCreates))
	w.remove(&w.grpc, grpcSenders(w.b, w.server.grpc, apipb.Pods_Delete_FullMethodName, w.grpcDeletes))
}

// create creates all pods under the eyes of a watcher.
func (w *apiWorkload) create(f *wayFigures, senders []sender) {
	w.b.Helper()
	time.Sleep(settle)
	watcher := watchLag(w.b, w.server.http, loadPods)
	defer watcher.close()
	senders, sent := noteSent(senders, loadPods)
	before := cpu(w.b, w.server.server)
	f.creates.add(load(w.b, senders, loadPods))
	watcher.await(w.b, loadPods)
	f.createCPU = append(f.createCPU, (cpu(w.b, w.server.server)-before)/loadPods)
	for i, seen := range watcher.seen {
		f.lag = append(f.lag, seen.Sub(sent[i]))
	}
}

func (w *apiWorkload) remove(f *wayFigures, senders []sender) {
	w.b.Helper()
	time.Sleep(settle)
	watcher := watchLag(w.b, w.server.http, loadPods)
	defer watcher.close()
	watcher.await(w.b, loadPods) // all that there are
	f.deletes.add(load(w.b, senders, loadPods))
}

// list makes one list after another.
func (w *apiWorkload) list(request []byte) (sample, int64) {
	w.b.Helper()
	time.Sleep(settle)
	client := dialHTTP(w.b, w.server.http, http.StatusOK, nil)
	var took sample
	var size int64
	for range listsPerTurn {
		begin := time.Now()
		n, err := client.exchange(request)
		if err != nil {
			w.b.Fatal(err)
		}
		took, size = append(took, time.Since(begin)), n
	}
	return took, size
}
