// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	nodepb "github.com/berth-run/berth/proto/berth/node/v1"
)

// holding is what a reader holds: at first what its inventory says, then what it
// was sent.
type holding struct {
	pods    map[types.UID]heldPod
	objects map[objectKey]heldObject
}

type heldPod struct {
	namespace, name string
	version         string
	// pod is what was sent last; nil for a pod that only the inventory told of.
	pod *corev1.Pod
}

type heldObject struct {
	uid     types.UID
	version string
}

func newHolding() holding {
	return holding{pods: map[types.UID]heldPod{}, objects: map[objectKey]heldObject{}}
}

// add takes in an entry of an inventory.
func (h holding) add(key *nodepb.ObjectKey) error {
	if key.GetKind() == api.Pods.Name {
		h.pods[types.UID(key.GetUid())] = heldPod{
			namespace: key.GetNamespace(), name: key.GetName(), version: key.GetResourceVersion(),
		}
		return nil
	}
	for _, kind := range []*api.Kind{api.Secrets, api.ConfigMaps, api.RuntimeClasses} {
		if key.GetKind() != kind.Name {
			continue
		}
		h.objects[objectKey{kind, key.GetNamespace(), key.GetName()}] = heldObject{
			uid: types.UID(key.GetUid()), version: key.GetResourceVersion(),
		}
		return nil
	}
	return fmt.Errorf("unknown kind %q", key.GetKind())
}

// podOp returns what the pod as it should be (nil: not at all) means to a reader
// who holds this of it (nil: nothing).
func podOp(held *heldPod, want *corev1.Pod) api.Op {
	switch {
	case held == nil:
		return api.OpOf(nil, want)
	case want == nil:
		return api.OpRemove
	case held.version == want.ResourceVersion:
		return api.OpNone
	case held.pod != nil:
		return api.OpOf(held.pod, want)
	case want.DeletionTimestamp != nil:
		return api.OpDelete
	}
	return api.OpUpdate
}

// removed returns the pod that a REMOVE carries if its record went unseen: what
// the reader holds of it, which has its own idea of the grace.
func (h heldPod) removed(uid types.UID) record {
	if h.pod != nil {
		return objectRecord(h.pod)
	}
	return objectRecord(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: h.name, UID: uid}})
}
