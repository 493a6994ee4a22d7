// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// look is a container that shows who its process is and what the kernel lets it do.
func look(name string, sc *corev1.SecurityContext) corev1.Container {
	c := shell(name, `
		echo "user $(id -u) group $(id -g) groups $(id -G)"
		grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/self/status | tr -d "\t"
		touch /file 2>/dev/null && echo "root is writable" || echo "root is read-only"
		grep -c " /proc/sys proc ro" /proc/mounts | sed "s/^/read-only proc: /"`)
	c.SecurityContext = sc
	return c
}

func TestSecurityContextOfAContainer(t *testing.T) {
	// The capabilities that a container has by itself, and those of which it dropped some.
	const usual, netAdmin, chown = "CapEff:00000000a80425fb", "CapEff:0000000000001000", "CapEff:00000000a80425fa"
	own := []corev1.Capability{"CAP_net_admin"}
	for name, tt := range map[string]struct {
		pod   *corev1.PodSecurityContext
		sc    *corev1.SecurityContext
		lines []string
	}{
		"nothing": {lines: []string{"user 0 group 0 groups 0", usual, "NoNewPrivs:0", "Seccomp:0", "root is writable", "read-only proc: 1"}},
		"a user": {
			pod: &corev1.PodSecurityContext{RunAsUser: ptr.To(int64(1000)), RunAsGroup: ptr.To(int64(3000)), RunAsNonRoot: ptr.To(true),
				SupplementalGroups: []int64{4000}, FSGroup: ptr.To(int64(5000)), SeccompProfile: &corev1.SeccompProfile{Type: "RuntimeDefault"}},
			sc: &corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true)},
			// 2000 is app's in the image.
			lines: []string{"user 1000 group 3000 groups 3000 2000 4000 5000", "CapEff:0000000000000000", "NoNewPrivs:1", "Seccomp:2", "root is read-only"},
		},
		"strict groups": {
			pod: &corev1.PodSecurityContext{RunAsUser: ptr.To(int64(1000)), SupplementalGroups: []int64{4000},
				SupplementalGroupsPolicy: ptr.To(corev1.SupplementalGroupsPolicyStrict)},
			lines: []string{"user 1000 group 1000 groups 1000 4000"},
		},
		"the container's word": {
			pod:   &corev1.PodSecurityContext{RunAsUser: ptr.To(int64(1000)), RunAsGroup: ptr.To(int64(3000))},
			sc:    &corev1.SecurityContext{RunAsUser: ptr.To(int64(0)), RunAsGroup: ptr.To(int64(0))},
			lines: []string{"user 0 group 0 groups 0", usual},
		},
		"capabilities":         {sc: &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: own, Drop: []corev1.Capability{"ALL"}}}, lines: []string{netAdmin}},
		"one capability fewer": {sc: &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"CHOWN"}}}, lines: []string{chown}},
		"privileged":           {sc: &corev1.SecurityContext{Privileged: ptr.To(true)}, lines: []string{"Seccomp:0", "read-only proc: 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared(t)
			p := pod("p", look("c", tt.sc))
			p.Spec.SecurityContext = tt.pod
			wantLines(t, w.runToEnd(p), tt.lines...)
		})
	}
}

// A pod that must not run as root does not, whoever its image runs as.
func TestNonRoot(t *testing.T) {
	nonRoot := &corev1.SecurityContext{RunAsNonRoot: ptr.To(true)}
	for name, tt := range map[string]struct {
		image string
		sc    *corev1.SecurityContext
		why   string // empty: it runs
	}{
		"an image of root":      {"busybox:1", nonRoot, "container has runAsNonRoot and image will run as root"},
		"an image of a name":    {"busybox:app", nonRoot, "container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root"},
		"root":                  {"busybox:1", &corev1.SecurityContext{RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(0))}, "container's runAsUser breaks non-root policy"},
		"a user":                {"busybox:1", &corev1.SecurityContext{RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(1000))}, ""},
		"a group of an image's": {"busybox:app", &corev1.SecurityContext{RunAsGroup: ptr.To(int64(3000))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared(t)
			c := look("c", tt.sc)
			c.Image = image(tt.image)
			p := pod("p", c)
			if tt.why == "" {
				if log := w.runToEnd(p); !strings.Contains(log, "user 1000 ") {
					t.Errorf("it runs as somebody else:\n%s", log)
				}
				return
			}
			w.create(p)
			got := w.wait("p", "is refused", waitsFor("c", "CreateContainerConfigError"))
			if why := container(got, "c").State.Waiting.Message; !strings.HasPrefix(why, tt.why) {
				t.Errorf("the reason is %q, want %q", why, tt.why)
			}
		})
	}
}

// A profile of the node's own decides which system calls are allowed.
func TestSeccompProfileOfTheNode(t *testing.T) {
	w := shared(t)
	node := w.Nodes[0]
	dir := filepath.Join(node.StateDir, "seccomp", w.ns)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	const profile = `{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}`
	if err := os.WriteFile(filepath.Join(dir, "no-mkdir.json"), []byte(profile), 0o644); err != nil {
		t.Fatal(err)
	}
	c := shell("c", `mkdir /d 2>/dev/null && echo "made" || echo "not made"`)
	c.SecurityContext = &corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{
		Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: ptr.To(w.ns + "/no-mkdir.json")}}
	wantLines(t, w.runToEnd(onNode(pod("p", c), node.Name)), "not made")

	c.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: ptr.To("absent.json")}
	w.create(onNode(pod("absent", c), node.Name))
	got := w.wait("absent", "is refused", waitsFor("c", "CreateContainerError"))
	if why := container(got, "c").State.Waiting.Message; !strings.Contains(why, "absent.json") {
		t.Errorf("the reason is %q", why)
	}
}

func TestSysctlsAndWhatTheNodeCannotDo(t *testing.T) {
	w := shared(t)
	c := shell("c", `echo "ports $(cat /proc/sys/net/ipv4/ip_local_port_range)"; echo "removed $(cat /proc/sys/kernel/shm_rmid_forced)"`)
	p := pod("safe", c)
	p.Spec.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{
		{Name: "net.ipv4.ip_local_port_range", Value: "40000 50000"}, {Name: "kernel/shm_rmid_forced", Value: "1"}}}
	wantLines(t, w.runToEnd(p), "ports 40000\t50000", "removed 1")

	for name, tt := range map[string]struct {
		sc      corev1.PodSecurityContext
		reason  string
		message string
	}{
		"unsafe": {corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "net.ipv4.tcp_mem", Value: "1"}}}, "SysctlForbidden", `forbidden sysctl: "net.ipv4.tcp_mem" not allowlisted`},
		"apparmor": {corev1.PodSecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}},
			"AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host"},
	} {
		if _, err := os.Stat("/sys/module/apparmor"); err == nil && name == "apparmor" {
			continue
		}
		p := pod(name, shell("c", "true"))
		p.Spec.SecurityContext = &tt.sc
		w.create(p)
		got := w.wait(name, "fails", inPhase(corev1.PodFailed))
		if got.Status.Reason != tt.reason || !strings.Contains(got.Status.Message, tt.message) {
			t.Errorf("%s: %s, %q; want %s, %q", name, got.Status.Reason, got.Status.Message, tt.reason, tt.message)
		}
	}
}
