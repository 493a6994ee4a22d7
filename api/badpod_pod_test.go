// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

const notALabel = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`

func TestBadPods(t *testing.T) {
	long := strings.Repeat("a", 254)
	testWrong(t, map[string]wrong{
		"name too long": {func(p *corev1.Pod, _ *corev1.Container) { p.Name = long },
			`metadata.name: Invalid value: "` + long + `": must be no more than 253 characters`},
		"windows":    {ofSpec(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: corev1.Windows} }), `spec.os.name: Forbidden: berth runs Linux pods only`},
		"another os": {ofSpec(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: "plan9"} }), `spec.os.name: Forbidden: berth runs Linux pods only`},
		"no os":      {ofSpec(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{} }), `spec.os.name: Required value: cannot be empty`},
		"windows options of a linux pod": {ofSpec(func(s *corev1.PodSpec) {
			s.OS = &corev1.PodOS{Name: corev1.Linux}
			s.SecurityContext.WindowsOptions = &corev1.WindowsSecurityContextOptions{}
		}), `spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod`},
		"restart policy": {ofSpec(func(s *corev1.PodSpec) { s.RestartPolicy = "Sometimes" }),
			`spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"`},
		"deadline": {ofSpec(func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = ptr.To(int64(1 << 31)) }),
			`spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, inclusive`},
		"hostname":  {ofSpec(func(s *corev1.PodSpec) { s.Hostname = "A.b" }), `spec.hostname: Invalid value: "A.b": ` + notALabel},
		"subdomain": {ofSpec(func(s *corev1.PodSpec) { s.Subdomain = "A" }), `spec.subdomain: Invalid value: "A": ` + notALabel},
		"alias":     {ofSpec(func(s *corev1.PodSpec) { s.HostAliases = []corev1.HostAlias{{IP: "x"}} }), `spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		"DNS policy": {ofSpec(func(s *corev1.PodSpec) { s.DNSPolicy = "x" }),
			`spec.dnsPolicy: Unsupported value: "x": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`},
		"no DNS": {ofSpec(func(s *corev1.PodSpec) { s.DNSPolicy = corev1.DNSNone }),
			"spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"},
		"unnamed option": {ofSpec(func(s *corev1.PodSpec) { s.DNSConfig = &corev1.PodDNSConfig{Options: []corev1.PodDNSConfigOption{{}}} }),
			`spec.dnsConfig.options[0]: Required value: must not be empty`},
		"processes of two": {ofSpec(func(s *corev1.PodSpec) { s.HostPID, s.ShareProcessNamespace = true, ptr.To(true) }),
			`spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled`},
		"users of its own": {ofSpec(func(s *corev1.PodSpec) { s.HostPID, s.HostUsers = true, ptr.To(false) }),
			"spec.hostPID: Forbidden: when `hostUsers` is false"},
		"sysctl with NUL": {ofSpec(func(s *corev1.PodSpec) {
			s.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "net.a", Value: "\x00"}}
		}), `spec.securityContext.sysctls[0].value: Invalid value: "\x00": must not contain the character NUL (U+0000)`},
		"preemption": {ofSpec(func(s *corev1.PodSpec) { s.PreemptionPolicy = ptr.To(corev1.PreemptionPolicy("x")) }),
			`spec.preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"`},
		"ephemeral at once": {ofSpec(func(s *corev1.PodSpec) {
			s.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "a", Image: "a"}}}
		}), `spec.ephemeralContainers: Forbidden: cannot be set on create`},
	})
}

func TestBadVolumes(t *testing.T) {
	volume := func(s corev1.VolumeSource) change {
		return ofSpec(func(spec *corev1.PodSpec) { spec.Volumes[1].VolumeSource = s })
	}
	config := func(item corev1.KeyToPath) change {
		return ofSpec(func(spec *corev1.PodSpec) { spec.Volumes[2].ConfigMap.Items = []corev1.KeyToPath{item} })
	}
	projected := func(sources ...corev1.VolumeProjection) change {
		return volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources}})
	}
	token := func(path string, seconds int64) corev1.VolumeProjection {
		return corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: path, ExpirationSeconds: &seconds}}
	}
	empty := func(d corev1.EmptyDirVolumeSource) change { return volume(corev1.VolumeSource{EmptyDir: &d}) }
	const at = "spec.volumes[1]."
	testWrong(t, map[string]wrong{
		"name":       {ofSpec(func(s *corev1.PodSpec) { s.Volumes[1].Name = "A" }), at + `name: Invalid value: "A": ` + notALabel},
		"name twice": {ofSpec(func(s *corev1.PodSpec) { s.Volumes[1].Name = "data" }), at + `name: Duplicate value: "data"`},
		"two kinds": {ofSpec(func(s *corev1.PodSpec) { s.Volumes[1].EmptyDir = &corev1.EmptyDirVolumeSource{} }),
			at + `hostPath: Forbidden: may not specify more than 1 volume type`},
		"host path":   {volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}), at + `hostPath.path: Required value`},
		"NUL":         {volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/\x00"}}), at + `hostPath.path: Invalid value: "/\x00": must not contain the character NUL (U+0000)`},
		"size":        {empty(corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(quantity("a", "-1")["a"])}), at + `emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity`},
		"key":         {config(corev1.KeyToPath{Path: "a"}), `spec.volumes[2].configMap.items[0].key: Required value`},
		"file":        {config(corev1.KeyToPath{Key: "a", Path: "..a"}), `spec.volumes[2].configMap.items[0].path: Invalid value: "..a": must not start with '..'`},
		"mode":        {config(corev1.KeyToPath{Key: "a", Path: "a", Mode: ptr.To(int32(512))}), `spec.volumes[2].configMap.items[0].mode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive`},
		"no image":    {volume(corev1.VolumeSource{Image: &corev1.ImageVolumeSource{}}), at + `image.reference: Required value`},
		"short token": {projected(token("a", 599)), at + `projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`},
		"long token":  {projected(token("a", 1<<32+1)), at + `projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`},
		"same path":   {projected(token("a", 600), token("a", 600)), at + `projected.sources[1].serviceAccountToken.path: Invalid value: "a": conflicting duplicate paths`},
		"no field": {volume(corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{Path: "a"}}}}),
			at + `downwardAPI.items[0]: Required value: one of fieldRef and resourceFieldRef is required`},
	})
}

// TestBadResources: without defaults, which repeat a bad limit as a request.
func TestBadResources(t *testing.T) {
	resources := func(limits, requests corev1.ResourceList) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: limits, Requests: requests}
	}
	for name, tt := range map[string]struct {
		resources corev1.ResourceRequirements
		want      string
	}{
		"above the limit":  {resources(quantity("cpu", "100m"), quantity("cpu", "101m")), `r.requests: Invalid value: "101m": must be less than or equal to cpu limit of 100m`},
		"negative":         {resources(quantity("cpu", "-1"), nil), `r.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		"unknown":          {resources(quantity("gpus", "1"), nil), `r.limits[gpus]: Invalid value: "gpus": must be a standard resource for containers`},
		"of a quota":       {resources(quantity("requests.example.com/gpu", "1"), nil), `r.limits[requests.example.com/gpu]: Invalid value: "requests.example.com/gpu": doesn't follow extended resource name standard`},
		"no name":          {resources(quantity("a b", "1"), nil), `r.limits[a b]: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
		"part of a device": {resources(quantity("example.com/gpu", "500m"), nil), `r.limits[example.com/gpu]: Invalid value: "500m": must be an integer`},
		"unlimited device": {resources(nil, quantity("example.com/gpu", "1")), `r.limits: Required value: Limit must be set for non overcommitable resources`},
		"shared device":    {resources(quantity("example.com/gpu", "2"), quantity("example.com/gpu", "1")), `r.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2`},
		"only huge pages":  {resources(quantity("hugepages-2Mi", "2Mi"), nil), `r: Forbidden: HugePages require cpu or memory`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := texts(validateResources(&tt.resources, field.NewPath("r"))); !slices.Equal(got, []string{tt.want}) {
				t.Errorf("got\n%q, want\n%q", got, tt.want)
			}
		})
	}
}

func TestBadRestartRules(t *testing.T) {
	rules := func(rules ...corev1.ContainerRestartRule) change {
		return inContainer(func(c *corev1.Container) {
			c.RestartPolicy, c.RestartPolicyRules = ptr.To(corev1.ContainerRestartPolicyNever), rules
		})
	}
	testWrong(t, map[string]wrong{
		"no policy": {both(rules(corev1.ContainerRestartRule{Action: "Restart", ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: "In"}}),
			inContainer(func(c *corev1.Container) { c.RestartPolicy = nil })),
			inFirst + `restartPolicy: Required value: must specify restartPolicy when restart rules are used`},
		"no codes": {rules(corev1.ContainerRestartRule{Action: "Restart"}), inFirst + `restartPolicyRules[0].exitCodes: Required value: must be specified`},
		"action": {rules(corev1.ContainerRestartRule{Action: "Sing", ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: "In"}}),
			inFirst + `restartPolicyRules[0].action: Unsupported value: "Sing": supported values: "Restart"`},
		"resize": {inContainer(func(c *corev1.Container) {
			c.ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: "disk", RestartPolicy: corev1.NotRequired}}
		}), inFirst + `resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory"`},
	})
}
