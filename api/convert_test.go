// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	corepb "github.com/berth-run/berth/proto/berth/core/v1"
)

// messages makes the typed message of each kind.
var messages = map[*Kind]func() proto.Message{
	Pods:            func() proto.Message { return &corepb.Pod{} },
	Nodes:           func() proto.Message { return &corepb.Node{} },
	Namespaces:      func() proto.Message { return &corepb.Namespace{} },
	Secrets:         func() proto.Message { return &corepb.Secret{} },
	ConfigMaps:      func() proto.Message { return &corepb.ConfigMap{} },
	Events:          func() proto.Message { return &corepb.Event{} },
	ServiceAccounts: func() proto.Message { return &corepb.ServiceAccount{} },
	Leases:          func() proto.Message { return &corepb.Lease{} },
	PriorityClasses: func() proto.Message { return &corepb.PriorityClass{} },
	RuntimeClasses:  func() proto.Message { return &corepb.RuntimeClass{} },
}

// filler makes random objects that every form can hold.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(1, 3).MaxDepth(14).Funcs(
		func(t *metav1.TypeMeta, _ randfill.Continue) { *t = metav1.TypeMeta{} },
		func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(c.Rand.Int63n(1<<33)+1, 0) },
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = time.Unix(c.Rand.Int63n(1<<33)+1, 0) },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Rand.Int63n(1<<40), resource.DecimalSI)
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = intstr.FromInt32(c.Rand.Int31())
			if c.Bool() {
				*v = intstr.FromString(c.String(0))
			}
		},
		func(f *metav1.FieldsV1, c randfill.Continue) {
			f.SetRawBytes(fmt.Appendf(nil, `{"f:%d":{}}`, c.Rand.Int63()))
		},
	)
}

func TestRoundTripThroughTypedMessages(t *testing.T) {
	const rounds = 200
	for _, k := range Kinds {
		t.Run(k.Name, func(t *testing.T) {
			for seed := range int64(rounds) {
				want := k.New()
				filler(seed).Fill(want)

				m := messages[k]()
				if err := FromObject(want, m); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if len(m.ProtoReflect().GetUnknown()) > 0 {
					t.Fatalf("seed %d: the message does not describe every field", seed)
				}
				got, err := ToObject(k, m)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if !apiequality.Semantic.DeepEqual(want, got) {
					t.Fatalf("seed %d: lost (-want +got):\n%s", seed, diff(want, got))
				}
			}
		})
	}
}

func diff(want, got any) string {
	w, _ := json.MarshalIndent(want, "", " ")
	g, _ := json.MarshalIndent(got, "", " ")
	return cmp.Diff(string(w), string(g))
}

func TestRoundTripThroughManifests(t *testing.T) {
	for _, k := range Kinds {
		for seed := range int64(50) {
			want := k.New()
			filler(seed).Fill(want)
			manifest, err := EncodeManifest(k, want)
			if err != nil {
				t.Fatal(err)
			}
			got, warnings, err := DecodeManifest(k, manifest, metav1.FieldValidationStrict)
			if err != nil || len(warnings) > 0 {
				t.Fatalf("%s, seed %d: %v, warnings %q", k.Name, seed, err, warnings)
			}
			if !apiequality.Semantic.DeepEqual(Typed(k, want), got) {
				t.Fatalf("%s, seed %d: lost (-want +got):\n%s", k.Name, seed, diff(want, got))
			}
		}
	}
}

func TestStructManifest(t *testing.T) {
	pod := validPod()
	s, err := EncodeStruct(Typed(Pods, pod))
	if err != nil {
		t.Fatal(err)
	}
	if kind := s.Fields["kind"].GetStringValue(); kind != "Pod" {
		t.Errorf("kind is %q", kind)
	}
	got, _, err := DecodeStruct(Pods, s, metav1.FieldValidationStrict)
	if err != nil {
		t.Fatal(err)
	}
	if !apiequality.Semantic.DeepEqual(Typed(Pods, pod), got) {
		t.Error(diff(pod, got))
	}
}

func TestRawLeavesAsItsBytes(t *testing.T) {
	pod := validPod()
	encoded, _ := pod.Marshal()
	m := Raw(&corepb.Pod{}, encoded)
	onWire, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if string(onWire) != string(encoded) {
		t.Error("the bytes on the wire differ")
	}
	obj, err := ToObject(Pods, m)
	if err != nil {
		t.Fatal(err)
	}
	if !apiequality.Semantic.DeepEqual(pod, obj) {
		t.Error(diff(pod, obj))
	}
}

func TestWithResourceVersionMerges(t *testing.T) {
	pod := validPod()
	encoded, _ := pod.Marshal()
	want := pod.DeepCopy()
	want.ResourceVersion = "9007199254740991"
	encoded = WithResourceVersion(encoded, want.ResourceVersion)

	got := &corev1.Pod{}
	if err := got.Unmarshal(encoded); err != nil {
		t.Fatal(err)
	}
	if !apiequality.Semantic.DeepEqual(want, got) {
		t.Error(diff(want, got))
	}
	m := &corepb.Pod{}
	if err := proto.Unmarshal(encoded, m); err != nil {
		t.Fatal(err)
	}
	if m.Metadata.Name != pod.Name || m.Metadata.ResourceVersion != want.ResourceVersion {
		t.Errorf("as a message: %v", m.Metadata)
	}
}

func TestEncodeList(t *testing.T) {
	for _, k := range Kinds {
		items := []Object{k.New(), k.New()}
		items[0].SetName("a")
		items[1].SetName("b")
		want, err := NewList(k, metav1.ListMeta{ResourceVersion: "7", Continue: "more"}, items)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := EncodeList(metav1.ListMeta{ResourceVersion: "7", Continue: "more"}, items)
		if err != nil {
			t.Fatal(err)
		}
		got := k.NewList()
		if err := got.(interface{ Unmarshal([]byte) error }).Unmarshal(encoded); err != nil {
			t.Fatal(err)
		}
		got.GetObjectKind().SetGroupVersionKind(want.GetObjectKind().GroupVersionKind())
		if !apiequality.Semantic.DeepEqual(want, got) {
			t.Errorf("%s: %s", k.Name, diff(want, got))
		}
	}
}

func TestDecodeManifestFindings(t *testing.T) {
	const good = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`
	tests := map[string]struct {
		manifest, validation string
		warnings             []string
		err                  string // empty means none
	}{
		"good":          {manifest: good},
		"no kind":       {manifest: `{"metadata":{"name":"a"}}`},
		"yaml":          {manifest: "metadata:\n  name: a\n"},
		"unknown, warn": {manifest: `{"spec":{"nope":1}}`, warnings: []string{`unknown field "spec.nope"`}},
		"unknown, strict": {manifest: `{"spec":{"nope":1}}`, validation: "Strict",
			err: `Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.nope"`},
		"unknown, ignore": {manifest: `{"spec":{"nope":1}}`, validation: "Ignore"},
		"duplicate":       {manifest: `{"spec":{"nodeName":"a","nodeName":"b"}}`, warnings: []string{`duplicate field "spec.nodeName"`}},
		"yaml duplicate": {manifest: "spec:\n  nodeName: a\n  nodeName: b\n", validation: "Strict",
			err: `key "nodeName" already set in map`},
		"wrong case":    {manifest: `{"Spec":{}}`, warnings: []string{`unknown field "Spec"`}},
		"wrong kind":    {manifest: `{"apiVersion":"v1","kind":"Secret"}`, err: `Secret in version "v1" cannot be handled as a Pod`},
		"wrong version": {manifest: `{"apiVersion":"v2","kind":"Pod"}`, err: `no kind "Pod" is registered for version "v2"`},
		"wrong type":    {manifest: `{"spec":{"containers":[{"ports":[{"containerPort":"x"}]}]}}`, err: "containerPort"},
		"broken":        {manifest: `{"spec":`, err: "unexpected end of JSON input"},
		"broken yaml":   {manifest: "a: b: c", err: "yaml parse error"},
		"empty":         {manifest: " ", err: "the manifest is empty"},
		"text":          {manifest: "hello", err: "json parse error"},
		"validation":    {manifest: good, validation: "Maybe", err: `fieldValidation: Unsupported value: "Maybe"`},
		"quantity":      {manifest: `{"spec":{"containers":[{},{"resources":{"limits":{"cpu":"1 core"}}}]}}`, err: "spec.containers[1].resources.limits[cpu]: Invalid value"},
		"time":          {manifest: `{"metadata":{"creationTimestamp":"yesterday"}}`, err: "metadata.creationTimestamp: Invalid value"},
		"not UTF-8":     {manifest: "{\"metadata\":{\"annotations\":{\"a\":\"\xff\"}}}", err: "metadata.annotations[a]: must be valid UTF-8"},
		"inlined":       {manifest: `{"spec":{"volumes":[{"emptyDir":{"sizeLimit":"x"}}]}}`, err: "spec.volumes[0].emptyDir.sizeLimit: Invalid value"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, warnings, err := DecodeManifest(Pods, []byte(tc.manifest), tc.validation)
			if tc.err == "" && err != nil {
				t.Fatal(err)
			}
			if tc.err != "" && (!apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), tc.err)) {
				t.Fatalf("got %v, want a BadRequest with %q", err, tc.err)
			}
			if !cmp.Equal(warnings, tc.warnings) {
				t.Errorf("warnings %q, want %q", warnings, tc.warnings)
			}
		})
	}
}

func TestToObjectRefusesWithThePath(t *testing.T) {
	tests := map[string]struct {
		message *corepb.Pod
		err     string
	}{
		"none": {nil, "the request carries no Pod"},
		"kind": {&corepb.Pod{Kind: "Node"}, "Node in version"},
		"quantity": {&corepb.Pod{Spec: &corepb.PodSpec{Containers: []*corepb.Container{{Resources: requirements("cpu", "one")}}}},
			"spec.containers[0].resources.limits[cpu]: quantities must match"},
		"text": {&corepb.Pod{Metadata: &corepb.ObjectMeta{Labels: map[string]string{"a": "\xff"}}}, "metadata.labels[a]: must be valid UTF-8"},
		"inlined": {&corepb.Pod{Spec: &corepb.PodSpec{Volumes: []*corepb.Volume{{VolumeSource: &corepb.VolumeSource{
			HostPath: &corepb.HostPathVolumeSource{Path: "\xff"}}}}}}, "spec.volumes[0].hostPath.path: must be valid UTF-8"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ToObject(Pods, tc.message)
			if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %v, want a BadRequest with %q", err, tc.err)
			}
		})
	}
}

func requirements(name, limit string) *corepb.ResourceRequirements {
	r := &corepb.ResourceRequirements{}
	encoded, _ := (&corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceName(name): {}}}).Marshal()
	if err := proto.Unmarshal(encoded, r); err != nil {
		panic(err)
	}
	r.Limits[name].Value = limit
	return r
}

// A manifest that becomes a stored object is converted twice: from JSON, and to
// its encoding.
func BenchmarkCreateConversions(b *testing.B) {
	manifest, err := EncodeManifest(Pods, validPod())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		obj, _, err := DecodeManifest(Pods, manifest, "")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := obj.Marshal(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkToObject(b *testing.B) {
	m := &corepb.Pod{}
	if err := FromObject(validPod(), m); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ToObject(Pods, m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRaw(b *testing.B) {
	encoded, _ := validPod().Marshal()
	b.ReportAllocs()
	for b.Loop() {
		Raw(&corepb.Pod{}, WithResourceVersion(encoded, "1048577"))
	}
}
