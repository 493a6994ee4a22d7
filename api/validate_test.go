// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// validPod uses every field that is honoured, and is defaulted.
func validPod() *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "u1", Labels: map[string]string{"app": "web"}, ResourceVersion: "7"},
		Spec: corev1.PodSpec{
			NodeName:              "node-1",
			ActiveDeadlineSeconds: ptr.To(int64(600)),
			NodeSelector:          map[string]string{"disk": "ssd"},
			Tolerations:           []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
			ReadinessGates:        []corev1.PodReadinessGate{{ConditionType: "www.example.com/feature"}},
			ImagePullSecrets:      []corev1.LocalObjectReference{{Name: "registry"}},
			InitContainers:        []corev1.Container{{Name: "init", Image: "busybox:1.36"}},
			Containers: []corev1.Container{{
				Name: "web", Image: "nginx:1.14.2", Command: []string{"nginx"}, Args: []string{"-g"}, WorkingDir: "/srv",
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80, HostPort: 8080}},
				Env: []corev1.EnvVar{
					{Name: "A", Value: "1"},
					{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
					{Name: "L", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['App.io/x']"}}},
					{Name: "S", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
						LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}}},
					{Name: "C", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
						LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Key: "k", Optional: ptr.To(true)}}},
				},
				Resources:    corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
				VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data", ReadOnly: true}},
				LivenessProbe: &corev1.Probe{TerminationGracePeriodSeconds: ptr.To(int64(5)),
					ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}},
				ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
					Port: intstr.FromString("http"), HTTPHeaders: []corev1.HTTPHeader{{Name: "Host", Value: "a"}}}}},
				StartupProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 81}}},
			}},
			Volumes: []corev1.Volume{
				{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv"}}},
				{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Items: []corev1.KeyToPath{{Key: "k", Path: "a/b"}}}}},
				{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}},
			},
		},
	}
	Default(pod)
	return pod
}

func TestValidPodIsValid(t *testing.T) {
	if errs := ValidateCreate(Pods, validPod()); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

func TestValidatePod(t *testing.T) {
	tests := map[string]struct {
		change func(p *corev1.Pod, c *corev1.Container)
		path   string
		words  string
	}{
		"no name":           {func(p *corev1.Pod, _ *corev1.Container) { p.Name = "" }, "metadata.name", "name or generateName is required"},
		"name":              {func(p *corev1.Pod, _ *corev1.Container) { p.Name = "Web_1" }, "metadata.name", "RFC 1123"},
		"label":             {func(p *corev1.Pod, _ *corev1.Container) { p.Labels = map[string]string{"a": "b c"} }, "metadata.labels", "a valid label"},
		"no containers":     {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Containers = nil }, "spec.containers", "Required value"},
		"container name":    {func(_ *corev1.Pod, c *corev1.Container) { c.Name = "Web" }, "spec.containers[0].name", "RFC 1123"},
		"no container name": {func(_ *corev1.Pod, c *corev1.Container) { c.Name = "" }, "spec.containers[0].name", "Required value"},
		"same name":         {func(_ *corev1.Pod, c *corev1.Container) { c.Name = "init" }, "spec.containers[0].name", "Duplicate value"},
		"no image":          {func(_ *corev1.Pod, c *corev1.Container) { c.Image = "" }, "spec.containers[0].image", "Required value"},
		"init image":        {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.InitContainers[0].Image = " a" }, "spec.initContainers[0].image", "whitespace"},
		"pull policy":       {func(_ *corev1.Pod, c *corev1.Container) { c.ImagePullPolicy = "Often" }, "spec.containers[0].imagePullPolicy", "Unsupported value"},
		"last words":        {func(_ *corev1.Pod, c *corev1.Container) { c.TerminationMessagePolicy = "Ask" }, "spec.containers[0].terminationMessagePolicy", "Unsupported value"},
		"no port":           {func(_ *corev1.Pod, c *corev1.Container) { c.Ports[0].ContainerPort = 0 }, "spec.containers[0].ports[0].containerPort", "Required value"},
		"port":              {func(_ *corev1.Pod, c *corev1.Container) { c.Ports[0].ContainerPort = 70000 }, "spec.containers[0].ports[0].containerPort", "between 1 and 65535"},
		"host port":         {func(_ *corev1.Pod, c *corev1.Container) { c.Ports[0].HostPort = -1 }, "spec.containers[0].ports[0].hostPort", "between 1 and 65535"},
		"host ip":           {func(_ *corev1.Pod, c *corev1.Container) { c.Ports[0].HostIP = "x" }, "spec.containers[0].ports[0].hostIP", "valid IP"},
		"protocol":          {func(_ *corev1.Pod, c *corev1.Container) { c.Ports[0].Protocol = "tcp" }, "spec.containers[0].ports[0].protocol", "Unsupported value"},
		"port name":         {func(_ *corev1.Pod, c *corev1.Container) { c.Ports[0].Name = "a_b" }, "spec.containers[0].ports[0].name", "must contain only"},
		"same port name":    {func(_ *corev1.Pod, c *corev1.Container) { c.Ports = append(c.Ports, port("http", 81, 0)) }, "spec.containers[0].ports[1].name", "Duplicate value"},
		"same host port":    {func(_ *corev1.Pod, c *corev1.Container) { c.Ports = append(c.Ports, port("", 81, 8080)) }, "spec.containers[0].ports[1].hostPort", "Duplicate value"},
		"host network port": {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.HostNetwork = true }, "spec.containers[0].ports[0].hostPort", "must match `containerPort` when `hostNetwork` is true"},
		"no env name":       {func(_ *corev1.Pod, c *corev1.Container) { c.Env[0].Name = "" }, "spec.containers[0].env[0].name", "Required value"},
		"env name":          {func(_ *corev1.Pod, c *corev1.Container) { c.Env[0].Name = "a=b" }, "spec.containers[0].env[0].name", "Invalid value"},
		"env no source":     {func(_ *corev1.Pod, c *corev1.Container) { c.Env[1].ValueFrom.FieldRef = nil }, "spec.containers[0].env[1].valueFrom", "must specify one of"},
		"env two sources": {func(_ *corev1.Pod, c *corev1.Container) {
			c.Env[1].ValueFrom.SecretKeyRef = c.Env[3].ValueFrom.SecretKeyRef
		}, "spec.containers[0].env[1].valueFrom", "more than one"},
		"env value too":      {func(_ *corev1.Pod, c *corev1.Container) { c.Env[1].Value = "x" }, "spec.containers[0].env[1].valueFrom", "`value` is not empty"},
		"field path":         {func(_ *corev1.Pod, c *corev1.Container) { c.Env[1].ValueFrom.FieldRef.FieldPath = "spec.x" }, "spec.containers[0].env[1].valueFrom.fieldRef.fieldPath", "Unsupported value"},
		"secret key":         {func(_ *corev1.Pod, c *corev1.Container) { c.Env[3].ValueFrom.SecretKeyRef.Key = "" }, "spec.containers[0].env[3].valueFrom.secretKeyRef.key", "Required value"},
		"config map name":    {func(_ *corev1.Pod, c *corev1.Container) { c.Env[4].ValueFrom.ConfigMapKeyRef.Name = "" }, "spec.containers[0].env[4].valueFrom.configMapKeyRef.name", "Required value"},
		"negative":           {func(_ *corev1.Pod, c *corev1.Container) { c.Resources.Limits = quantity("memory", "-1") }, "spec.containers[0].resources.limits[memory]", "greater than or equal to 0"},
		"request over limit": {func(_ *corev1.Pod, c *corev1.Container) { c.Resources.Requests = quantity("cpu", "2") }, "spec.containers[0].resources.requests", "less than or equal to cpu limit of 100m"},
		"mount of nothing":   {func(_ *corev1.Pod, c *corev1.Container) { c.VolumeMounts[0].Name = "x" }, "spec.containers[0].volumeMounts[0].name", "Not found"},
		"mount path":         {func(_ *corev1.Pod, c *corev1.Container) { c.VolumeMounts[0].MountPath = "a" }, "spec.containers[0].volumeMounts[0].mountPath", "absolute"},
		"mount path colon":   {func(_ *corev1.Pod, c *corev1.Container) { c.VolumeMounts[0].MountPath = "/a:b" }, "spec.containers[0].volumeMounts[0].mountPath", "':'"},
		"same mount path":    {func(_ *corev1.Pod, c *corev1.Container) { c.VolumeMounts = append(c.VolumeMounts, c.VolumeMounts[0]) }, "spec.containers[0].volumeMounts[1].mountPath", "must be unique"},
		"restart policy":     {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.RestartPolicy = "Sometimes" }, "spec.restartPolicy", "Unsupported value"},
		"grace":              {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(-1)) }, "spec.terminationGracePeriodSeconds", "greater than or equal to 0"},
		"deadline":           {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.ActiveDeadlineSeconds = ptr.To(int64(0)) }, "spec.activeDeadlineSeconds", "between 1 and"},
		"node selector":      {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.NodeSelector = map[string]string{"a b": ""} }, "spec.nodeSelector", "Invalid value"},
		"node name":          {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.NodeName = "A B" }, "spec.nodeName", "RFC 1123"},
		"service account":    {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.ServiceAccountName = "A B" }, "spec.serviceAccountName", "RFC 1123"},
		"pull secret":        {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.ImagePullSecrets[0].Name = "" }, "spec.imagePullSecrets[0].name", "Required value"},
		"toleration key":     {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Tolerations[0] = corev1.Toleration{} }, "spec.tolerations[0].operator", "must be Exists"},
		"toleration value":   {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Tolerations[0].Value = "x" }, "spec.tolerations[0].value", "must be empty"},
		"toleration effect":  {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Tolerations[0].Effect = "x" }, "spec.tolerations[0].effect", "Unsupported value"},
		"toleration op":      {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Tolerations[0].Operator = "Lt" }, "spec.tolerations[0].operator", "Unsupported value"},
		"toleration seconds": {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Tolerations[0].TolerationSeconds = ptr.To(int64(1)) }, "spec.tolerations[0].effect", "NoExecute"},
		"no volume name":     {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Volumes[1].Name = "" }, "spec.volumes[1].name", "Required value"},
		"same volume name":   {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Volumes[1].Name = "data" }, "spec.volumes[1].name", "Duplicate value"},
		"two sources":        {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Volumes[0].Secret = p.Spec.Volumes[3].Secret }, "spec.volumes[0].secret", "more than 1 volume type"},
		"host path":          {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Volumes[1].HostPath.Path = "/a/../b" }, "spec.volumes[1].hostPath.path", "'..'"},
		"host path relative": {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Volumes[1].HostPath.Path = "a" }, "spec.volumes[1].hostPath.path", "absolute"},
		"host path type": {func(p *corev1.Pod, _ *corev1.Container) {
			p.Spec.Volumes[1].HostPath.Type = ptr.To(corev1.HostPathType("x"))
		}, "spec.volumes[1].hostPath.type", "Unsupported value"},
		"item path":          {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Volumes[2].ConfigMap.Items[0].Path = "../x" }, "spec.volumes[2].configMap.items[0].path", "'..'"},
		"item path dots":     {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Volumes[2].ConfigMap.Items[0].Path = "..data" }, "spec.volumes[2].configMap.items[0].path", "must not start with"},
		"item path absolute": {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Volumes[2].ConfigMap.Items[0].Path = "/x" }, "spec.volumes[2].configMap.items[0].path", "relative"},
		"mode":               {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Volumes[3].Secret.DefaultMode = ptr.To(int32(0o1000)) }, "spec.volumes[3].secret.defaultMode", "0777"},
		"secret name":        {func(p *corev1.Pod, _ *corev1.Container) { p.Spec.Volumes[3].Secret.SecretName = "" }, "spec.volumes[3].secret.secretName", "Required value"},

		"other volume": {func(p *corev1.Pod, _ *corev1.Container) {
			p.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}
		}, "spec.volumes[0].nfs", notHonoured},

		"NUL in env":  {func(_ *corev1.Pod, c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A", Value: "a\x00b"}} }, "spec.containers[0].env[0].value", "NUL"},
		"NUL in args": {func(_ *corev1.Pod, c *corev1.Container) { c.Args[0] = "\x00" }, "spec.containers[0].args[0]", "NUL"},
		"poison text": {func(_ *corev1.Pod, c *corev1.Container) { c.Args[0] = "\xff" }, "spec.containers[0].args[0]", "valid UTF-8"},
		"poison key":  {func(p *corev1.Pod, _ *corev1.Container) { p.Annotations = map[string]string{"a\xff": ""} }, "metadata.annotations[a\uFFFD]", "valid UTF-8"},
		"poison time": {func(p *corev1.Pod, _ *corev1.Container) { p.CreationTimestamp = metav1.Unix(1<<40, 0) }, "metadata.creationTimestamp", "years 1 to 9999"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := validPod()
			tc.change(pod, &pod.Spec.Containers[0])
			errs := ValidateCreate(Pods, pod)
			if len(errs) != 1 || errs[0].Field != tc.path || !strings.Contains(errs[0].Error(), tc.words) {
				t.Errorf("got %v, want one error at %s with %q", errs, tc.path, tc.words)
			}
		})
	}
}

func port(name string, container, host int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: name, ContainerPort: container, HostPort: host, Protocol: corev1.ProtocolTCP}
}

func quantity(name, value string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(value)}
}

func TestValidatePodUpdate(t *testing.T) {
	tests := map[string]struct {
		change func(p *corev1.Pod)
		path   string // empty: allowed
	}{
		"nothing":    {func(*corev1.Pod) {}, ""},
		"labels":     {func(p *corev1.Pod) { p.Labels = nil }, ""},
		"image":      {func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx:2" }, ""},
		"init image": {func(p *corev1.Pod) { p.Spec.InitContainers[0].Image = "busybox:2" }, ""},
		"deadline":   {func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = ptr.To(int64(5)) }, ""},
		"toleration": {func(p *corev1.Pod) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Operator: "Exists"})
		}, ""},
		"image gone":        {func(p *corev1.Pod) { p.Spec.Containers[0].Image = "" }, "spec.containers[0].image"},
		"deadline longer":   {func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = ptr.To(int64(6000)) }, "spec.activeDeadlineSeconds"},
		"deadline gone":     {func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = nil }, "spec.activeDeadlineSeconds"},
		"toleration gone":   {func(p *corev1.Pod) { p.Spec.Tolerations = nil }, "spec.tolerations"},
		"command":           {func(p *corev1.Pod) { p.Spec.Containers[0].Command[0] = "sh" }, "spec.containers[0].command[0]"},
		"env":               {func(p *corev1.Pod) { p.Spec.Containers[0].Env[0].Value = "2" }, "spec.containers[0].env[0].value"},
		"resources":         {func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = quantity("cpu", "1") }, "spec.containers[0].resources.limits"},
		"another container": {func(p *corev1.Pod) { p.Spec.InitContainers = nil }, "spec.initContainers"},
		"volume":            {func(p *corev1.Pod) { p.Spec.Volumes[1].HostPath.Path = "/x" }, "spec.volumes[1].hostPath.path"},
		"node":              {func(p *corev1.Pod) { p.Spec.NodeName = "node-2" }, "spec.nodeName"},
		"restart policy":    {func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever }, "spec.restartPolicy"},
		"name":              {func(p *corev1.Pod) { p.Name = "other" }, "metadata.name"},
		"uid":               {func(p *corev1.Pod) { p.UID = "u2" }, "metadata.uid"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := validPod()
			tc.change(pod)
			checkFields(t, fieldsOf(ValidateUpdate(Pods, pod, validPod())), tc.path)
		})
	}
}

func checkFields(t *testing.T, got []string, want string) {
	t.Helper()
	var wanted []string
	if want != "" {
		wanted = []string{want}
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("errors at %q, want %q", got, wanted)
	}
}

func TestValidatePodStatus(t *testing.T) {
	ended, again := validPod(), validPod()
	ended.Status.Phase, again.Status.Phase = corev1.PodSucceeded, corev1.PodRunning
	checkFields(t, fieldsOf(ValidateStatusUpdate(Pods, again, ended)), "status.phase")
	checkFields(t, fieldsOf(ValidateStatusUpdate(Pods, ended, again)), "")
	again.Status.Phase = "Walking"
	checkFields(t, fieldsOf(ValidateStatusUpdate(Pods, again, validPod())), "status.phase")
	again = validPod()
	again.Status.StartTime = ptr.To(metav1.NewTime(time.Unix(1<<40, 0)))
	checkFields(t, fieldsOf(ValidateStatusUpdate(Pods, again, validPod())), "status.startTime")
}
