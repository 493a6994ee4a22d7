// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// namespaceOf is the line in which a container shows one of its namespaces.
func namespaceOf(t *testing.T, kind string) string {
	t.Helper()
	ns, err := os.Readlink("/proc/self/ns/" + kind)
	if err != nil {
		t.Fatal(err)
	}
	return kind + " " + ns
}

func TestNamespacesOfTheHost(t *testing.T) {
	w := shared(t)
	show := func(name string) corev1.Container {
		return shell(name, `for ns in pid ipc net; do echo "$ns $(readlink /proc/self/ns/$ns)"; done`)
	}
	host := pod("host", show("c"))
	host.Spec.HostPID, host.Spec.HostIPC = true, true
	log := w.runToEnd(host)
	wantLines(t, log, namespaceOf(t, "pid"), namespaceOf(t, "ipc"))
	if strings.Contains(log, namespaceOf(t, "net")) {
		t.Errorf("the network is the host's too:\n%s", log)
	}
	log = w.runToEnd(pod("own", show("c")))
	for _, kind := range []string{"pid", "ipc", "net"} {
		if strings.Contains(log, namespaceOf(t, kind)) {
			t.Errorf("a pod that does not ask for it has the host's %s", kind)
		}
	}
}

func TestContainersShareTheirProcesses(t *testing.T) {
	w := shared(t)
	p := pod("p", shell("neighbour", "exec sleep 987654"), shell("c", `
		until ps | grep -q "sleep 98765[4]"; do usleep 50000; done
		echo "sees its neighbour"; test "$$" = 1 && echo "is 1" || echo "is not 1"; exec sleep 3600`))
	p.Spec.ShareProcessNamespace = ptr.To(true)
	p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(0))
	w.create(p)
	wantLines(t, w.waitLogOf("p", "c", "is not 1"), "sees its neighbour", "is not 1")
}

// A pod with users of its own has root that is nobody on the node, and its volumes
// are its root's.
func TestUsersOfItsOwn(t *testing.T) {
	w := shared(t)
	c := shell("c", `
		echo "$(id -u) is $(awk '$1 == 0 {print ($2 >= 65536), $3}' /proc/self/uid_map)"
		touch /v/file && stat -c "the file is of %u" /v/file
		stat -c "hosts is of %u" /etc/hosts
		unshare -m true 2>/dev/null && echo "may mount" || echo "may not mount"`)
	c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
	c.SecurityContext = &corev1.SecurityContext{ProcMount: ptr.To(corev1.UnmaskedProcMount),
		Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"SYS_ADMIN"}}}
	p := pod("p", c)
	p.Spec.HostUsers = ptr.To(false)
	p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	wantLines(t, w.runToEnd(p), fmt.Sprintf("0 is 1 %d", 1<<16), "the file is of 0", "hosts is of 0", "may mount")
}
