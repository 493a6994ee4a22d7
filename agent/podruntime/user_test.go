// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"strings"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"
)

func TestCheckNonRoot(t *testing.T) {
	for name, tt := range map[string]struct {
		asked *int64
		image imageUser
		want  string
	}{
		"a user is asked for":  {ptr.To(int64(1)), imageUser{}, ""},
		"root is asked for":    {ptr.To(int64(0)), imageUser{}, `container's runAsUser breaks non-root policy (pod: "web_default(uid-1)", container: web)`},
		"the image has a user": {nil, imageUser{id: ptr.To(int64(1))}, ""},
		"the image has root":   {nil, imageUser{id: ptr.To(int64(0))}, "container has runAsNonRoot and image will run as root (pod"},
		"the image has a name": {nil, imageUser{name: "app"}, "container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root (pod"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := testPod("web")
			err := checkNonRoot(pod, &pod.Spec.Containers[0], tt.asked, tt.image)
			if (err != nil) != (tt.want != "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestToImageUser(t *testing.T) {
	for name, tt := range map[string]struct {
		image *runtimeapi.Image
		id    int64
		name  string
	}{
		"a number": {&runtimeapi.Image{Uid: &runtimeapi.Int64Value{Value: 7}}, 7, ""},
		"a name":   {&runtimeapi.Image{Username: "app"}, -1, "app"},
		"nobody":   {&runtimeapi.Image{}, 0, ""},
	} {
		got := toImageUser(tt.image)
		if ptr.Deref(got.id, -1) != tt.id || got.name != tt.name {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
