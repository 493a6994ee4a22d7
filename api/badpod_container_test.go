// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

const inFirst = "spec.containers[0]."

func TestBadContainers(t *testing.T) {
	long := strings.Repeat("a", 64)
	testWrong(t, map[string]wrong{
		"name too long": {inContainer(func(c *corev1.Container) { c.Name = long }),
			inFirst + `name: Invalid value: "` + long + `": must be no more than 63 characters`},
		"names of two": {func(p *corev1.Pod, c *corev1.Container) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: c.Name, Image: "a"})
		},
			`spec.containers[1].name: Duplicate value: "web"`},
		"image": {inContainer(func(c *corev1.Container) { c.Image = "nginx:1 " }),
			inFirst + `image: Invalid value: "nginx:1 ": must not have leading or trailing whitespace`},
		"no image": {inContainer(func(c *corev1.Container) { c.Image = "" }), inFirst + `image: Required value`},
		"pull policy": {inContainer(func(c *corev1.Container) { c.ImagePullPolicy = "Often" }),
			inFirst + `imagePullPolicy: Unsupported value: "Often": supported values: "Always", "IfNotPresent", "Never"`},
		"port out of range": {inContainer(func(c *corev1.Container) { c.Ports[0].ContainerPort = 65536 }),
			inFirst + `ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive`},
		"port name too long": {inContainer(func(c *corev1.Container) { c.Ports[0].Name = "abcdefghijklmnop" }),
			inFirst + `ports[0].name: Invalid value: "abcdefghijklmnop": must be no more than 15 characters`},
		"protocol": {inContainer(func(c *corev1.Container) { c.Ports[0].Protocol = "ICMP" }),
			inFirst + `ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"`},
		"port twice": {inContainer(func(c *corev1.Container) { c.Ports = append(c.Ports, port("", 90, 8080)) }),
			inFirst + `ports[1].hostPort: Duplicate value: "TCP//8080"`},
		"not UTF-8": {inContainer(func(c *corev1.Container) { c.WorkingDir = "/\xff" }),
			inFirst + `workingDir: Invalid value: "\"/\\xff\"": must be valid UTF-8`},
		"NUL in a mount": {inContainer(func(c *corev1.Container) { c.VolumeMounts[0].MountPath = "/a\x00" }),
			inFirst + `volumeMounts[0].mountPath: Invalid value: "/a\x00": must not contain the character NUL (U+0000)`},
		"NUL in a part": {inContainer(func(c *corev1.Container) { c.VolumeMounts[0].SubPath = "a\x00" }),
			inFirst + `volumeMounts[0].subPath: Invalid value: "a\x00": must not contain the character NUL (U+0000)`},
	})
}

func TestBadEnvironment(t *testing.T) {
	testWrong(t, map[string]wrong{
		"no source": {inContainer(func(c *corev1.Container) { c.Env[1].ValueFrom = &corev1.EnvVarSource{} }), inFirst +
			"env[1].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"},
		"value and source": {inContainer(func(c *corev1.Container) { c.Env[1].Value = "a" }), inFirst +
			"env[1].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty"},
		"label": {inContainer(func(c *corev1.Container) { c.Env[1].ValueFrom.FieldRef.FieldPath = "metadata.labels['App.io/x']" }), inFirst +
			`env[1].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.labels['App.io/x']": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
		"divisor": {inContainer(func(c *corev1.Container) {
			c.Env[1].ValueFrom = &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: quantity("a", "2")["a"]}}
		}), inFirst + `env[1].valueFrom.resourceFieldRef.divisor: Invalid value: "2": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource`},
		"from nothing": {inContainer(func(c *corev1.Container) { c.EnvFrom = []corev1.EnvFromSource{{}} }), inFirst +
			"envFrom: Invalid value: \"\": must specify one of: `configMapRef` or `secretRef`"},
		"from two": {inContainer(func(c *corev1.Container) {
			ref := corev1.LocalObjectReference{Name: "a"}
			c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref}, SecretRef: &corev1.SecretEnvSource{LocalObjectReference: ref}}}
		}), inFirst + `envFrom: Invalid value: "": may not have more than one field specified at a time`},
		"from no name": {inContainer(func(c *corev1.Container) {
			c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{}}}
		}), inFirst + `envFrom[0].secretRef.name: Required value`},
	})
}

func TestBadProbesAndHooks(t *testing.T) {
	probe := func(do func(*corev1.Probe)) change {
		return inContainer(func(c *corev1.Container) { do(c.LivenessProbe) })
	}
	get := func(do func(*corev1.HTTPGetAction)) change {
		return inContainer(func(c *corev1.Container) { do(c.ReadinessProbe.HTTPGet) })
	}
	hook := func(h corev1.LifecycleHandler) change {
		return inContainer(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{PreStop: &h} })
	}
	const liveness, readiness, preStop = inFirst + "livenessProbe", inFirst + "readinessProbe", inFirst + "lifecycle.preStop"
	testWrong(t, map[string]wrong{
		"no handler": {probe(func(p *corev1.Probe) { p.Exec = nil }), liveness + `: Required value: must specify a handler type`},
		"two handlers": {probe(func(p *corev1.Probe) { p.GRPC = &corev1.GRPCAction{Port: 1} }),
			liveness + `.grpc: Forbidden: may not specify more than 1 handler type`},
		"no command": {probe(func(p *corev1.Probe) { p.Exec.Command = nil }), liveness + `.exec.command: Required value`},
		"period": {probe(func(p *corev1.Probe) { p.PeriodSeconds = -1 }),
			liveness + `.periodSeconds: Invalid value: -1: must be greater than or equal to 0`},
		"success":  {probe(func(p *corev1.Probe) { p.SuccessThreshold = 2 }), liveness + `.successThreshold: Invalid value: 2: must be 1`},
		"no grace": {probe(func(p *corev1.Probe) { p.TerminationGracePeriodSeconds = ptr.To(int64(0)) }), liveness + `.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`},
		"grace of readiness": {inContainer(func(c *corev1.Container) { c.ReadinessProbe.TerminationGracePeriodSeconds = ptr.To(int64(1)) }),
			readiness + `.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes`},
		"port":      {get(func(g *corev1.HTTPGetAction) { g.Port = intstr.FromInt32(0) }), readiness + `.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive`},
		"port name": {get(func(g *corev1.HTTPGetAction) { g.Port = intstr.FromString("80") }), readiness + `.httpGet.port: Invalid value: "80": must contain at least one letter (a-z)`},
		"scheme":    {get(func(g *corev1.HTTPGetAction) { g.Scheme = "ftp" }), readiness + `.httpGet.scheme: Unsupported value: "ftp": supported values: "HTTP", "HTTPS"`},
		"header": {get(func(g *corev1.HTTPGetAction) { g.HTTPHeaders[0].Name = "a b" }),
			readiness + `.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')`},

		"hook without a handler": {hook(corev1.LifecycleHandler{}), preStop + `: Required value: must specify a handler type`},
		"sleep too long": {hook(corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 31}}),
			preStop + `.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)`},
		"signal without an os": {inContainer(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{StopSignal: ptr.To(corev1.SIGINT)} }),
			inFirst + "lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`"},
		"hook of an init container": {ofSpec(func(s *corev1.PodSpec) { s.InitContainers[0].Lifecycle = &corev1.Lifecycle{} }),
			`spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always`},
		"probe of an init container": {ofSpec(func(s *corev1.PodSpec) { s.InitContainers[0].StartupProbe = &corev1.Probe{} }),
			`spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always`},
	})
}

func TestBadMounts(t *testing.T) {
	mount := func(do func(*corev1.VolumeMount)) change {
		return inContainer(func(c *corev1.Container) { do(&c.VolumeMounts[0]) })
	}
	const at = inFirst + "volumeMounts[0]."
	testWrong(t, map[string]wrong{
		"of nothing":      {mount(func(m *corev1.VolumeMount) { m.Name = "x" }), at + `name: Not found: "x"`},
		"nowhere":         {mount(func(m *corev1.VolumeMount) { m.MountPath = "" }), at + `mountPath: Required value`},
		"out of a volume": {mount(func(m *corev1.VolumeMount) { m.SubPath = "a/../../b" }), at + `subPath: Invalid value: "a/../../b": must not contain '..'`},
		"absolute part":   {mount(func(m *corev1.VolumeMount) { m.SubPathExpr = "/a" }), at + `subPathExpr: Invalid value: "/a": must be a relative path`},
		"both parts":      {mount(func(m *corev1.VolumeMount) { m.SubPath, m.SubPathExpr = "a", "b" }), at + `subPathExpr: Invalid value: "b": subPathExpr and subPath are mutually exclusive`},
		"propagation": {mount(func(m *corev1.VolumeMount) { m.MountPropagation = ptr.To(corev1.MountPropagationMode("x")) }),
			at + `mountPropagation: Unsupported value: "x": supported values: "Bidirectional", "HostToContainer", "None"`},
		"to the node": {mount(func(m *corev1.VolumeMount) { m.MountPropagation = ptr.To(corev1.MountPropagationBidirectional) }),
			at + `mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`},
		"recursive, writable": {mount(func(m *corev1.VolumeMount) {
			m.ReadOnly, m.RecursiveReadOnly = false, ptr.To(corev1.RecursiveReadOnlyEnabled)
		}),
			at + `recursiveReadOnly: Forbidden: may only be specified when readOnly is true`},
		"recursive": {mount(func(m *corev1.VolumeMount) { m.RecursiveReadOnly = ptr.To(corev1.RecursiveReadOnlyMode("x")) }),
			at + `recursiveReadOnly: Unsupported value: "x": supported values: "Disabled", "Enabled", "IfPossible"`},
	})
}
