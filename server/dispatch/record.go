// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/server/registry"
)

// record is one version of an object, and its encoding.
type record struct {
	object api.Object
	// version is the object's resourceVersion, which rises with every write.
	version uint64
	// encode returns the Kubernetes protobuf encoding.
	encode func() ([]byte, error)
}

func (r record) pod() *corev1.Pod { return r.object.(*corev1.Pod) }

func eventRecord(e registry.WatchEvent) record {
	return record{
		object:  e.Object,
		version: versionOf(e.Object),
		encode:  func() ([]byte, error) { return e.Encoded(), nil },
	}
}

func objectRecord(obj api.Object) record {
	return record{object: obj, version: versionOf(obj), encode: obj.Marshal}
}

// versionOf reads a resourceVersion, which is a number to the registry that gave
// it.
func versionOf(obj api.Object) uint64 { return parseVersion(obj.GetResourceVersion()) }

func parseVersion(resourceVersion string) uint64 {
	v, _ := strconv.ParseUint(resourceVersion, 10, 64)
	return v
}

func (r record) exists() bool { return r.object != nil }
