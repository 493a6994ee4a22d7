// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// fullContainer has something in each field of an identity.
func fullContainer() corev1.Container {
	return corev1.Container{
		Name: "web", Image: "nginx:1.14.2", Command: []string{"nginx"}, Args: []string{"-g", "daemon off;"}, WorkingDir: "/srv",
		Env: []corev1.EnvVar{
			{Name: "A", Value: "1"},
			{Name: "B", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "C", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Key: "k"}}},
			{Name: "D", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}}},
		},
	}
}

// These values are on the containers of running nodes. A change of any of them
// restarts every container there is: do not update them, add a version.
func TestIdentityIsStable(t *testing.T) {
	full := fullContainer()
	for want, c := range map[string]corev1.Container{
		"v1-66ded96e01cf113a": {Name: "c", Image: "busybox:1"},
		"v1-3fcc4efed57460bc": full,
	} {
		if got := identity(&c); got != want {
			t.Errorf("identity of %s is %s, was %s", c.Name, got, want)
		}
	}
}

func TestIdentityFollowsWhatMustRestart(t *testing.T) {
	base := fullContainer()
	for name, change := range map[string]func(*corev1.Container){
		"image":   func(c *corev1.Container) { c.Image = "nginx:2" },
		"command": func(c *corev1.Container) { c.Command = nil },
		"args":    func(c *corev1.Container) { c.Args = append(c.Args, "x") },
		"dir":     func(c *corev1.Container) { c.WorkingDir = "/" },
		"env":     func(c *corev1.Container) { c.Env[0].Value = "2" },
		"ref":     func(c *corev1.Container) { c.Env[3].ValueFrom.SecretKeyRef.Key = "other" },
	} {
		c := fullContainer()
		if change(&c); identity(&c) == identity(&base) {
			t.Errorf("%s: the same identity", name)
		}
	}
}

func TestIdentityIgnoresTheRest(t *testing.T) {
	base := fullContainer()
	for name, change := range map[string]func(*corev1.Container){
		"pull policy":         func(c *corev1.Container) { c.ImagePullPolicy = corev1.PullAlways },
		"resources":           func(c *corev1.Container) { c.Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")} },
		"termination message": func(c *corev1.Container) { c.TerminationMessagePath = "/x" },
		"default of a ref":    func(c *corev1.Container) { c.Env[1].ValueFrom.FieldRef.APIVersion = "v1" },
	} {
		c := fullContainer()
		if change(&c); identity(&c) != identity(&base) {
			t.Errorf("%s: another identity", name)
		}
	}
}
