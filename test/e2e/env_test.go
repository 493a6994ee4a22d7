// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

// runToEnd runs the pod to its end and returns what it logged.
func (w *world) runToEnd(p *corev1.Pod) string {
	w.t.Helper()
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	last := &p.Spec.Containers[len(p.Spec.Containers)-1]
	last.Command[len(last.Command)-1] += "\necho the end"
	w.create(p)
	w.wait(p.Name, "succeeds", inPhase(corev1.PodSucceeded))
	return w.waitLog(p.Name, "the end")
}

func TestEnvironmentFromObjectsResourcesAndFiles(t *testing.T) {
	w := shared(t)
	w.configMap("settings", map[string]string{"MODE": "fast", "dotted.key-1": "any", "OVER": "from the config map"})
	w.secret("keys", corev1.SecretTypeOpaque, map[string][]byte{"KEY": []byte("s3cret")})

	// A shell leaves out the names that it cannot use.
	c := shell("c", `tr "\\0" "\\n" </proc/1/environ`)
	c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
	c.EnvFrom = []corev1.EnvFromSource{
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}},
		{Prefix: "S_", SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "keys"}}},
		{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "none"}, Optional: ptr.To(true)}},
	}
	limit := func(path, divisor string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: path, Divisor: resource.MustParse(divisor)}}
	}
	file := func(key string, optional bool) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: "v", Path: "app.env", Key: key, Optional: &optional}}
	}
	c.Env = []corev1.EnvVar{
		{Name: "OVER", Value: "$(MODE)er"},
		{Name: "MEMORY", ValueFrom: limit("limits.memory", "1Mi")},
		{Name: "CPU", ValueFrom: limit("limits.cpu", "1m")},
		{Name: "ADDRESS", ValueFrom: file("ADDRESS", false)},
		{Name: "LEFT_OUT", ValueFrom: file("NONE", true)},
	}
	init := shell("init", `echo "# made here" >/v/app.env; echo "ADDRESS='10.0.0.1'" >>/v/app.env`)
	init.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
	p := pod("p", c)
	p.Spec.InitContainers = []corev1.Container{init}
	p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}

	log := w.runToEnd(p)
	var node corev1.Node
	if _, err := w.Do(w.ctx(), "GET", "/api/v1/nodes/"+w.get("p").Spec.NodeName, nil, &node); err != nil {
		t.Fatal(err)
	}
	wantLines(t, log, "MODE=fast", "dotted.key-1=any", "OVER=faster", "S_KEY=s3cret", "MEMORY=64",
		fmt.Sprint("CPU=", node.Status.Allocatable.Cpu().MilliValue()), "ADDRESS=10.0.0.1")
	if strings.Contains(log, "LEFT_OUT") {
		t.Errorf("a variable that is optional and not in the file is set:\n%s", log)
	}
}
