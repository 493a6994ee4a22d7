// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corepb "github.com/berth-run/berth/proto/berth/core/v1"
)

// TestEveryPodSpecFieldIsHonouredOrRefused sets each field that the wire knows,
// one at a time, and wants it either in the table or refused with its path.
func TestEveryPodSpecFieldIsHonouredOrRefused(t *testing.T) {
	honoured := map[string]bool{}
	for _, row := range podSpecFields() {
		if row.values == nil && row.refuse == "" {
			honoured["spec."+row.path] = false
		}
	}
	leaves := 0
	eachField((&corepb.PodSpec{}).ProtoReflect().Descriptor(), nil, func(steps []protoreflect.FieldDescriptor) {
		leaves++
		path := pathOf(steps)
		errs := unsupportedFields(specWith(t, steps), field.NewPath("spec"))
		if row := rowAbove(honoured, path); row != "" {
			honoured[row] = true
			if len(errs) > 0 {
				t.Errorf("%s has a row, yet: %v", path, errs)
			}
			return
		}
		if len(errs) != 1 {
			t.Errorf("%s: got %v, want one refusal", path, errs)
			return
		}
		if at := anyIndex.ReplaceAllString(errs[0].Field, "[]"); !isAbove(at, path) || errs[0].Type != field.ErrorTypeForbidden {
			t.Errorf("%s is refused as %v", path, errs[0])
		}
	})
	for row, met := range honoured {
		if !met {
			t.Errorf("the row %s names no field", row)
		}
	}
	if leaves < 500 {
		t.Errorf("only %d fields were walked", leaves)
	}
}

var anyIndex = regexp.MustCompile(`\[\d+\]`)

func isAbove(row, path string) bool {
	rest, ok := strings.CutPrefix(path, row)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func rowAbove(rows map[string]bool, path string) string {
	for row := range rows {
		if isAbove(row, path) {
			return row
		}
	}
	return ""
}

// eachField calls visit with the way to every field that holds a value, and to
// every message, which a manifest can set empty.
func eachField(d protoreflect.MessageDescriptor, steps []protoreflect.FieldDescriptor, visit func([]protoreflect.FieldDescriptor)) {
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		way := append(steps[:len(steps):len(steps)], f)
		if recursive(steps, f) {
			continue
		}
		if f.Message() == nil || f.IsMap() || strings.HasPrefix(string(f.Message().FullName()), "google.") {
			visit(way)
			continue
		}
		eachField(f.Message(), way, visit)
	}
}

func recursive(steps []protoreflect.FieldDescriptor, f protoreflect.FieldDescriptor) bool {
	for _, s := range steps {
		if s.FullName() == f.FullName() {
			return true
		}
	}
	return false
}

func pathOf(steps []protoreflect.FieldDescriptor) string {
	path := "spec"
	for _, f := range steps {
		if name := inlinedName(f); name != "" {
			path += "." + name
		}
		if f.IsList() {
			path += "[]"
		}
	}
	return path
}

// specWith returns a spec in which nothing is set but the way to one field, and
// that to something that no row accepts as a value that asks for nothing.
func specWith(t *testing.T, steps []protoreflect.FieldDescriptor) *corev1.PodSpec {
	t.Helper()
	root := &corepb.PodSpec{}
	m := root.ProtoReflect()
	for _, f := range steps[:len(steps)-1] {
		if f.IsList() {
			m = m.Mutable(f).List().AppendMutable().Message()
		} else {
			m = m.Mutable(f).Message()
		}
	}
	setSomething(m, steps[len(steps)-1])
	encoded, err := proto.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	spec := &corev1.PodSpec{}
	if err := spec.Unmarshal(encoded); err != nil {
		t.Fatalf("%s: %v", pathOf(steps), err)
	}
	return spec
}

func setSomething(m protoreflect.Message, f protoreflect.FieldDescriptor) {
	switch {
	case f.IsMap():
		value := m.Mutable(f).Map().NewValue()
		if f.MapValue().Message() != nil {
			setQuantity(value.Message())
		}
		m.Mutable(f).Map().Set(protoreflect.ValueOfString("a").MapKey(), value)
	case f.IsList():
		m.Mutable(f).List().Append(something(f, m.NewField(f).List().NewElement()))
	case f.Message() != nil:
		setQuantity(m.Mutable(f).Message())
	default:
		m.Set(f, something(f, m.NewField(f)))
	}
}

// setQuantity makes a StringValue a quantity; in a Timestamp it sets the seconds.
func setQuantity(m protoreflect.Message) {
	if f := m.Descriptor().Fields().ByName("value"); f != nil {
		m.Set(f, protoreflect.ValueOfString("3"))
		return
	}
	m.Set(m.Descriptor().Fields().ByName("seconds"), protoreflect.ValueOfInt64(3))
}

func something(f protoreflect.FieldDescriptor, empty protoreflect.Value) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("something")
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte("something"))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(f.Name() != "hostUsers")
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(3)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(3)
	}
	return empty
}

func TestWhatClientsAlwaysSendIsAccepted(t *testing.T) {
	manifests := map[string]string{
		"kubectl run": `{"containers":[{"image":"nginx","name":"a","resources":{}}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always"}`,
		"from another cluster": `{"containers":[{"image":"nginx","imagePullPolicy":"Always","name":"a","resources":{},
			"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"}],
			"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","securityContext":{}}],
			"dnsPolicy":"ClusterFirst","enableServiceLinks":true,"nodeName":"n","preemptionPolicy":"PreemptLowerPriority","priority":0,
			"restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"serviceAccount":"default",
			"serviceAccountName":"default","automountServiceAccountToken":false,"terminationGracePeriodSeconds":30,"affinity":{},"os":{"name":"linux"},
			"tolerations":[{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300}]}`,
		"empty lists": `{"containers":[{"image":"nginx","name":"a","envFrom":[],"volumeDevices":[]}],"hostAliases":[],"overhead":{}}`,
	}
	for name, spec := range manifests {
		t.Run(name, func(t *testing.T) {
			obj, _, err := DecodeManifest(Pods, fmt.Appendf(nil, `{"metadata":{"name":"a","namespace":"default"},"spec":%s}`, spec), "Strict")
			if err != nil {
				t.Fatal(err)
			}
			Default(obj)
			if errs := ValidateCreate(Pods, obj); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

func BenchmarkValidateCreate(b *testing.B) {
	pod := validPod()
	b.ReportAllocs()
	for b.Loop() {
		ValidateCreate(Pods, pod)
	}
}
