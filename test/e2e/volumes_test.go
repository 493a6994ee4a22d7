// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (w *world) configMap(name string, data map[string]string) {
	w.t.Helper()
	w.post("/api/v1/namespaces/"+w.ns+"/configmaps", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, nil)
}

func (w *world) secret(name string, kind corev1.SecretType, data map[string][]byte) {
	w.t.Helper()
	w.post("/api/v1/namespaces/"+w.ns+"/secrets",
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Type: kind, Data: data}, nil)
}

func TestVolumesAreSeenInTheContainer(t *testing.T) {
	w := shared(t)
	host := filepath.Join(suite.Dir, w.ns)
	if err := os.MkdirAll(host, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(host, "f"), []byte("from the host"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.configMap("cm", map[string]string{"k": "from the config map"})
	w.secret("s", corev1.SecretTypeOpaque, map[string][]byte{"k": []byte("from the secret")})

	p := pod("p", app("c", "serve", "80"))
	init := app("init", "write", "/empty/f", "from the init container")
	for name, source := range map[string]corev1.VolumeSource{
		"empty":  {EmptyDir: &corev1.EmptyDirVolumeSource{}},
		"memory": {EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}},
		"host":   {HostPath: &corev1.HostPathVolumeSource{Path: host}},
		"cm":     {ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}},
		"secret": {Secret: &corev1.SecretVolumeSource{SecretName: "s"}},
	} {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
		p.Spec.Containers[0].VolumeMounts = append(p.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
	}
	init.VolumeMounts = []corev1.VolumeMount{{Name: "empty", MountPath: "/empty"}}
	p.Spec.InitContainers = []corev1.Container{init}
	w.create(p)
	ready := w.ready("p")
	for path, want := range map[string]string{
		"/empty/f": "from the init container", "/host/f": "from the host",
		"/cm/k": "from the config map", "/secret/k": "from the secret",
	} {
		if got := w.page(ready, "/file?path="+path); got != want {
			t.Errorf("%s holds %q, want %q", path, got, want)
		}
	}
	mounts := w.page(ready, "/file?path=/proc/mounts")
	if !strings.Contains(mounts, " /memory tmpfs ") || !strings.Contains(mounts, " /secret tmpfs ") {
		t.Errorf("mounts:\n%s", mounts)
	}
}

func TestEnvironmentIsSeenInTheContainer(t *testing.T) {
	w := shared(t)
	w.configMap("cm", map[string]string{"k": "c"})
	w.secret("s", corev1.SecretTypeOpaque, map[string][]byte{"k": []byte("s")})
	c := app("c", "serve", "80")
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	c.Env = []corev1.EnvVar{
		{Name: "PLAIN", Value: "p"},
		{Name: "EXPANDED", Value: "$(PLAIN)-$$(PLAIN)"},
		{Name: "CM", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}, Key: "k"}}},
		{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}}},
		{Name: "NAME", ValueFrom: field("metadata.name")},
		{Name: "NODE", ValueFrom: field("spec.nodeName")},
		{Name: "IP", ValueFrom: field("status.podIP")},
		{Name: "HOSTIP", ValueFrom: field("status.hostIP")},
	}
	w.create(pod("p", c))
	p := w.ready("p")
	for name, want := range map[string]string{
		"PLAIN": "p", "EXPANDED": "p-$(PLAIN)", "CM": "c", "SECRET": "s",
		"NAME": "p", "NODE": p.Spec.NodeName, "IP": p.Status.PodIP, "HOSTIP": p.Status.HostIP,
	} {
		if got := w.page(p, "/env?name="+name); got != want {
			t.Errorf("$%s is %q, want %q", name, got, want)
		}
	}
}

func TestAPodWaitsForItsConfigMap(t *testing.T) {
	for name, use := range map[string]func(*corev1.Pod){
		"volume": func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "late"}}}}}
			p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
		},
		"env": func(p *corev1.Pod) {
			p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "E", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "late"}, Key: "k"}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared(t)
			p := pod("p", app("c"))
			use(p)
			w.create(p)
			w.wait("p", "names the missing config map", func(p *corev1.Pod) bool {
				waiting := container(p, "c").State.Waiting
				return waiting != nil && strings.Contains(waiting.Message, "late") || w.hasEvent("p", "late")
			})
			w.configMap("late", map[string]string{"k": "v"})
			w.ready("p")
		})
	}
}
