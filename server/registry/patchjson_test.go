// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store/bolt"
)

// TestHostilePatches: patches that a library would choke on are the fault of who
// sent them.
func TestHostilePatches(t *testing.T) {
	w := newWorld(t, bolt.Options{})
	w.createPod("web", "")
	for name, tc := range map[string]struct {
		form   types.PatchType
		patch  string
		reason metav1.StatusReason
		words  string
	}{
		"copies of copies": {types.JSONPatchType, copies(16), metav1.StatusReasonRequestEntityTooLarge, "copy"},
		"object as merge key": {types.StrategicMergePatchType, `{"spec":{"containers":[{"name":{"a":"b"}}]}}`,
			metav1.StatusReasonBadRequest, "a merge key in it is missing, or of the wrong type"},
		"strategic, not UTF-8": {types.StrategicMergePatchType, "{\"metadata\":{\"annotations\":{\"a\":\"\xff\"}}}",
			metav1.StatusReasonBadRequest, "not valid UTF-8"},
		"JSON, not UTF-8": {types.JSONPatchType, "[{\"op\":\"add\",\"path\":\"/metadata/annotations\",\"value\":{\"a\":\"\xff\"}}]",
			metav1.StatusReasonBadRequest, "not valid UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Patch(t.Context(), api.Pods, "default", "web", Patch{Type: tc.form, Data: []byte(tc.patch)}, WriteOptions{})
			wantError(t, err, tc.reason, tc.words)
		})
	}
}

// copies returns a JSON patch each of whose operations doubles the metadata.
func copies(n int) string {
	var operations []string
	for i := range n {
		operations = append(operations, fmt.Sprintf(`{"op":"copy","from":"/metadata","path":"/metadata/c%d"}`, i))
	}
	return "[" + strings.Join(operations, ",") + "]"
}
