// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func envOf(source corev1.EnvVarSource) change {
	return func(_ *corev1.Pod, c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "E", ValueFrom: &source}} }
}

func envFrom(source corev1.EnvFromSource) change {
	return func(_ *corev1.Pod, c *corev1.Container) { c.EnvFrom = []corev1.EnvFromSource{source} }
}

func configMapEnv(name string) *corev1.ConfigMapEnvSource {
	return &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
}

func secretEnv(name string) *corev1.SecretEnvSource {
	return &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
}

func resourceEnv(path, divisor string) change {
	ref := &corev1.ResourceFieldSelector{Resource: path}
	if divisor != "" {
		ref.Divisor = resource.MustParse(divisor)
	}
	return envOf(corev1.EnvVarSource{ResourceFieldRef: ref})
}

func fileEnv(volume, path, key string) change {
	return envOf(corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: volume, Path: path, Key: key}})
}

func TestEnvSourcesThatAreAccepted(t *testing.T) {
	testAccepted(t, map[string]change{
		"config map":       envFrom(corev1.EnvFromSource{ConfigMapRef: configMapEnv("c")}),
		"secret":           envFrom(corev1.EnvFromSource{SecretRef: secretEnv("s"), Prefix: "1-a.b "}),
		"limit":            resourceEnv("limits.memory", "1Mi"),
		"request":          resourceEnv("requests.cpu", "1m"),
		"storage":          resourceEnv("limits.ephemeral-storage", ""),
		"file of a volume": fileEnv("data", "a/b.env", "KEY"),
	})
}

func TestEnvSourcesThatAreRefused(t *testing.T) {
	const from, of = "spec.containers[0].envFrom", "spec.containers[0].env[0].valueFrom"
	testRefused(t, map[string]refused{
		"no source":        {envFrom(corev1.EnvFromSource{}), from, "must specify one of: `configMapRef` or `secretRef`"},
		"two sources":      {envFrom(corev1.EnvFromSource{ConfigMapRef: configMapEnv("c"), SecretRef: secretEnv("s")}), from, "may not have more than one field specified at a time"},
		"no config map":    {envFrom(corev1.EnvFromSource{ConfigMapRef: configMapEnv("")}), from + "[0].configMapRef.name", "Required value"},
		"name of a secret": {envFrom(corev1.EnvFromSource{SecretRef: secretEnv("A B")}), from + "[0].secretRef.name", "RFC 1123"},
		"prefix":           {envFrom(corev1.EnvFromSource{SecretRef: secretEnv("s"), Prefix: "A="}), from + "[0].prefix", "a valid environment variable name"},

		"nothing":           {envOf(corev1.EnvVarSource{}), of, "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"},
		"no resource":       {resourceEnv("", ""), of + ".resourceFieldRef.resource", "Required value"},
		"another resource":  {resourceEnv("usage.cpu", ""), of + ".resourceFieldRef.resource", "Unsupported value"},
		"divisor of cpu":    {resourceEnv("limits.cpu", "1k"), of + ".resourceFieldRef.divisor", "with the cpu resource"},
		"divisor of memory": {resourceEnv("limits.memory", "2Mi"), of + ".resourceFieldRef.divisor", "with the memory resource"},

		"no volume":      {fileEnv("", "f", "K"), of + ".fileKeyRef.volumeName", "Required value"},
		"unknown volume": {fileEnv("absent", "f", "K"), of + ".fileKeyRef.volumeName", "Not found"},
		"another volume": {fileEnv("host", "f", "K"), of + ".fileKeyRef.volumeName", "must be of type emptyDir"},
		"no path":        {fileEnv("data", "", "K"), of + ".fileKeyRef.path", "Required value"},
		"path out of it": {fileEnv("data", "../f", "K"), of + ".fileKeyRef.path", "'..'"},
		"absolute path":  {fileEnv("data", "/f", "K"), of + ".fileKeyRef.path", "relative"},
		"no key":         {fileEnv("data", "f", ""), of + ".fileKeyRef.key", "Required value"},
		"key":            {fileEnv("data", "f", "A=B"), of + ".fileKeyRef.key", "a valid environment variable name"},
	})
}
