// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

func fieldsOf(errs field.ErrorList) (paths []string) {
	for _, e := range errs {
		paths = append(paths, e.Field)
	}
	return paths
}

func named(namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: "x", Namespace: namespace, ResourceVersion: "7"}
}

func secret(kind corev1.SecretType, data map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: named("default"), Type: kind, StringData: data}
}

func TestValidateOtherKinds(t *testing.T) {
	tests := map[string]struct {
		kind *Kind
		obj  Object
		path string // empty: valid
	}{
		"config map":         {ConfigMaps, &corev1.ConfigMap{ObjectMeta: named("default"), Data: map[string]string{"a.conf": "x"}}, ""},
		"config map key":     {ConfigMaps, &corev1.ConfigMap{ObjectMeta: named("default"), Data: map[string]string{"a/b": "x"}}, "data[a/b]"},
		"config map twice":   {ConfigMaps, &corev1.ConfigMap{ObjectMeta: named("default"), Data: map[string]string{"a": "x"}, BinaryData: map[string][]byte{"a": nil}}, "binaryData[a]"},
		"config map large":   {ConfigMaps, &corev1.ConfigMap{ObjectMeta: named("default"), Data: map[string]string{"a": strings.Repeat("x", 1<<20+1)}}, "data"},
		"config map nowhere": {ConfigMaps, &corev1.ConfigMap{ObjectMeta: named("")}, "metadata.namespace"},
		"secret":             {Secrets, secret("", map[string]string{"a": "x"}), ""},
		"secret key":         {Secrets, secret("", map[string]string{"..": "x"}), "data[..]"},
		"secret large":       {Secrets, secret("", map[string]string{"a": strings.Repeat("x", 1<<20+1)}), "data"},
		"docker config":      {Secrets, secret(corev1.SecretTypeDockerConfigJson, map[string]string{".dockerconfigjson": "{}"}), ""},
		"docker config bad":  {Secrets, secret(corev1.SecretTypeDockerConfigJson, map[string]string{".dockerconfigjson": "{"}), "data[.dockerconfigjson]"},
		"docker config none": {Secrets, secret(corev1.SecretTypeDockerConfigJson, nil), "data[.dockerconfigjson]"},
		"tls":                {Secrets, secret(corev1.SecretTypeTLS, map[string]string{"tls.crt": "x"}), "data[tls.key]"},
		"ssh":                {Secrets, secret(corev1.SecretTypeSSHAuth, nil), "data[ssh-privatekey]"},
		"basic auth":         {Secrets, secret(corev1.SecretTypeBasicAuth, map[string]string{"username": "x"}), ""},
		"basic auth none":    {Secrets, secret(corev1.SecretTypeBasicAuth, nil), "data[password]"},
		"token":              {Secrets, secret(corev1.SecretTypeServiceAccountToken, nil), "metadata.annotations[kubernetes.io/service-account.name]"},
		"own type":           {Secrets, secret("example.com/x", nil), ""},
		"namespace":          {Namespaces, &corev1.Namespace{ObjectMeta: named("")}, ""},
		"namespace dots":     {Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a.b"}}, "metadata.name"},
		"namespace in one":   {Namespaces, &corev1.Namespace{ObjectMeta: named("default")}, "metadata.namespace"},
		"kubernetes' own":    {Namespaces, &corev1.Namespace{ObjectMeta: named(""), Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"kubernetes"}}}, ""},
		"finalizer":          {Namespaces, &corev1.Namespace{ObjectMeta: named(""), Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"kubernetes", "a"}}}, "spec.finalizers[1]"},
		"node":               {Nodes, &corev1.Node{ObjectMeta: named(""), Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "a", Effect: "NoSchedule"}}}}, ""},
		"taint":              {Nodes, &corev1.Node{ObjectMeta: named(""), Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "a"}}}}, "spec.taints[0].effect"},
		"event":              {Events, &corev1.Event{ObjectMeta: named("a"), InvolvedObject: corev1.ObjectReference{Namespace: "a"}}, ""},
		"event elsewhere":    {Events, &corev1.Event{ObjectMeta: named("a"), InvolvedObject: corev1.ObjectReference{Namespace: "b"}}, "involvedObject.namespace"},
		"event about a node": {Events, &corev1.Event{ObjectMeta: named("default"), InvolvedObject: corev1.ObjectReference{Kind: "Node"}}, ""},
		"service account":    {ServiceAccounts, &corev1.ServiceAccount{ObjectMeta: named("default")}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			Default(tc.obj)
			checkFields(t, fieldsOf(ValidateCreate(tc.kind, tc.obj)), tc.path)
		})
	}
}

func TestValidateImmutable(t *testing.T) {
	fixed := func(value string, immutable *bool) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: named("default"), Data: map[string]string{"a": value}, Immutable: immutable}
	}
	old := fixed("1", ptr.To(true))
	checkFields(t, fieldsOf(ValidateUpdate(ConfigMaps, fixed("1", ptr.To(true)), old)), "")
	checkFields(t, fieldsOf(ValidateUpdate(ConfigMaps, fixed("2", ptr.To(true)), old)), "data")
	checkFields(t, fieldsOf(ValidateUpdate(ConfigMaps, fixed("1", nil), old)), "immutable")
	checkFields(t, fieldsOf(ValidateUpdate(ConfigMaps, fixed("2", nil), fixed("1", nil))), "")

	sealed := secret("a", nil)
	sealed.Immutable = ptr.To(true)
	changed := sealed.DeepCopy()
	changed.Data = map[string][]byte{"a": nil}
	checkFields(t, fieldsOf(ValidateUpdate(Secrets, changed, sealed)), "data")
	checkFields(t, fieldsOf(ValidateUpdate(Secrets, secret("b", nil), secret("a", nil))), "type")
}

func TestSecretsDoNotShowInErrors(t *testing.T) {
	s := secret(corev1.SecretTypeDockerConfigJson, map[string]string{".dockerconfigjson": "hunter2"})
	Default(s)
	if errs := ValidateCreate(Secrets, s); strings.Contains(errs.ToAggregate().Error(), "hunter2") {
		t.Error(errs)
	}
}
