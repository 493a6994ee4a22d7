// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"cmp"
	"log/slog"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// differ sends one reader of a node what it does not hold as it should. One
// goroutine uses it.
type differ struct {
	node     string
	index    *index
	follower *follower
	held     holding
	logger   *slog.Logger

	sendPods    func(*nodepb.PodUpdate) error
	sendObjects func(*nodepb.Objects) error
	// removed, unless nil, is told of each pod that the reader no longer has.
	removed func(uid string)
}

// begin follows the node and sends the whole difference: objects, pods in the
// order of their creation, removals. A reader that keeps what is not here holds
// objects of another store: nothing of them is removed, now or later.
func (d *differ) begin(keepOthers bool) error {
	pods, objects := d.index.follow(d.node, d.follower)
	slices.SortFunc(pods, byCreation)
	uids := make([]types.UID, len(pods))
	for i, r := range pods {
		uids[i] = r.object.GetUID()
	}
	if keepOthers {
		d.disownOthers(uids, objects)
	}
	uids = append(uids, beyond(d.held.pods, uids)...)
	objects = append(objects, beyond(d.held.objects, objects)...)
	d.follower.pods.hold(uids)
	d.follower.objects.hold(objects)
	return d.send(objects, uids)
}

// end stops following.
func (d *differ) end() { d.index.unfollow(d.node, d.follower) }

// next sends what has changed since.
func (d *differ) next() error {
	// Pods are taken first: what they name was marked before they were.
	uids := d.follower.pods.take()
	keys := d.follower.objects.take()
	return d.send(keys, uids)
}

func (d *differ) send(keys []objectKey, uids []types.UID) error {
	objects := objectBatch{send: d.sendObjects}
	if err := d.setObjects(&objects, keys); err != nil {
		return err
	}
	pods := podBatch{send: d.sendPods}
	for _, uid := range uids {
		if err := d.pod(&pods, uid); err != nil {
			return err
		}
	}
	if err := pods.flush(); err != nil {
		return err
	}
	return d.removeObjects(&objects, keys)
}

// pod sends what has become of one pod.
func (d *differ) pod(out *podBatch, uid types.UID) error {
	want := d.index.pod(d.node, uid)
	var held *heldPod
	if h, ok := d.held.pods[uid]; ok {
		held = &h
	}
	if !want.exists() {
		return d.podGone(out, uid, held)
	}
	pod := want.pod()
	op := podOp(held, pod)
	d.held.pods[uid] = heldPod{namespace: pod.Namespace, name: pod.Name, version: pod.ResourceVersion, pod: pod}
	if op == api.OpNone {
		return nil
	}
	return d.encoded(api.FullName(pod), want, func(data []byte) error { return out.add(op, data) })
}

// podGone sends that a pod is no more. The record that went says within which
// grace what is left of it shall end.
func (d *differ) podGone(out *podBatch, uid types.UID, held *heldPod) error {
	delete(d.held.pods, uid)
	d.follower.pods.forget(uid)
	last := d.follower.takeLast(uid)
	if d.removed != nil {
		d.removed(string(uid))
	}
	if held == nil {
		return nil
	}
	if !last.exists() {
		last = held.removed(uid)
	}
	return d.encoded(api.FullName(last.object), last, func(data []byte) error { return out.add(api.OpRemove, data) })
}

// setObjects sends the objects that exist and are not held in that version.
func (d *differ) setObjects(out *objectBatch, keys []objectKey) error {
	for _, key := range keys {
		want := d.index.object(d.node, key)
		if !want.exists() {
			continue
		}
		now := heldObject{uid: want.object.GetUID(), version: want.object.GetResourceVersion()}
		if d.held.objects[key] == now {
			continue
		}
		d.held.objects[key] = now
		if err := d.encoded(api.FullName(want.object), want, func(data []byte) error {
			return out.set(key.kind, data)
		}); err != nil {
			return err
		}
	}
	return out.flush()
}

// removeObjects makes the reader forget the objects that no pod names or that do
// not exist.
func (d *differ) removeObjects(out *objectBatch, keys []objectKey) error {
	for _, key := range keys {
		if d.index.object(d.node, key).exists() {
			continue
		}
		_, held := d.held.objects[key]
		delete(d.held.objects, key)
		d.follower.objects.forget(key)
		if held {
			if err := out.remove(key); err != nil {
				return err
			}
		}
	}
	return out.flush()
}

// encoded hands on a record's bytes. One that cannot be encoded is left out: it
// must not hold up the rest.
func (d *differ) encoded(name string, r record, use func([]byte) error) error {
	data, err := r.encode()
	if err != nil {
		d.logger.Error("cannot encode an object for its node", "object", name, "err", err)
		return nil
	}
	return use(data)
}

// disownOthers forgets what is held beyond what the node has.
func (d *differ) disownOthers(uids []types.UID, keys []objectKey) {
	for _, uid := range beyond(d.held.pods, uids) {
		delete(d.held.pods, uid)
	}
	for _, key := range beyond(d.held.objects, keys) {
		delete(d.held.objects, key)
	}
}

// beyond returns the keys that are held beyond these.
func beyond[K comparable, V any](held map[K]V, these []K) []K {
	set := make(map[K]struct{}, len(these))
	for _, k := range these {
		set[k] = struct{}{}
	}
	var others []K
	for k := range held {
		if _, ok := set[k]; !ok {
			others = append(others, k)
		}
	}
	return others
}

func byCreation(a, b record) int {
	x, y := a.pod(), b.pod()
	return cmp.Or(
		x.CreationTimestamp.Compare(y.CreationTimestamp.Time),
		cmp.Compare(a.version, b.version),
		strings.Compare(string(x.UID), string(y.UID)),
	)
}
