// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/test/internal/harness"
)

// mounting gives a container a mount.
func mounting(c corev1.Container, m corev1.VolumeMount) corev1.Container {
	c.VolumeMounts = append(c.VolumeMounts, m)
	return c
}

func volume(name string, source corev1.VolumeSource) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: source}
}

func TestPartsOfVolumesAreMounted(t *testing.T) {
	w := shared(t)
	w.configMap("cm", map[string]string{"conf": "from the config map"})
	init := mounting(shell("init", "mkdir /v/data && echo from the init container > /v/data/f"), corev1.VolumeMount{Name: "v", MountPath: "/v"})
	c := shell("c", `cat /data/f /etc/app/conf; ls -ld /made; echo own > /logs/mine; ls /all/logs; sleep 1000`)
	c.Env = []corev1.EnvVar{{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}
	for _, m := range []corev1.VolumeMount{
		{Name: "cm", MountPath: "/etc/app/conf", SubPath: "conf"}, // below another mount, and listed before it
		{Name: "v", MountPath: "/etc/app", SubPath: "data"},
		{Name: "v", MountPath: "/data", SubPath: "data"},
		{Name: "v", MountPath: "/made", SubPath: "new/dir"},
		{Name: "v", MountPath: "/logs", SubPathExpr: "logs/$(POD)"},
		{Name: "v", MountPath: "/all"},
	} {
		c = mounting(c, m)
	}
	p := pod("p", c)
	p.Spec.InitContainers = []corev1.Container{init}
	p.Spec.Volumes = []corev1.Volume{
		volume("v", emptyDir("", "")),
		volume("cm", corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}}),
	}
	w.create(p)
	log := w.waitLog("p", "\np\n")
	for _, want := range []string{"from the init container", "from the config map", "drwxrwxrwx"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
}

func TestB076ALinkOutOfTheVolumeIsRefused(t *testing.T) {
	w := shared(t)
	init := mounting(shell("init", "ln -s / /v/x"), corev1.VolumeMount{Name: "v", MountPath: "/v"})
	p := pod("p", mounting(shell("c", "cat /host/etc/shadow"), corev1.VolumeMount{Name: "v", MountPath: "/host", SubPath: "x"}))
	p.Spec.InitContainers = []corev1.Container{init}
	p.Spec.Volumes = []corev1.Volume{volume("v", emptyDir("", ""))}
	w.create(p)
	refused := w.wait("p", "is refused", waitsFor("c", "CreateContainerConfigError"))
	const why = `failed to prepare subPath for volumeMount "v" of container "c": "x" leads out of the volume`
	if got := container(refused, "c").State.Waiting.Message; got != why {
		t.Errorf("message %q", got)
	}
	w.waitEvent("p", why)
}

// TestB076NoRaceShowsTheNode exchanges a link within the volume and one to the root while
// containers that mount what is there are started one after another.
func TestB076NoRaceShowsTheNode(t *testing.T) {
	w := shared(t)
	starts := 4
	if soak {
		starts = 500
	}
	racer := mounting(shell("racer", "cd /v; mkdir d; while true; do ln -s d n; mv -T n a; usleep 50000; ln -s / n; mv -T n a; done"),
		corev1.VolumeMount{Name: "v", MountPath: "/v"})
	racer.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	seen := corev1.VolumeMount{Name: "seen", MountPath: "/seen"}
	p := pod("p", mounting(shell("c", "cat /seen/*; echo all started; sleep 1000"), seen))
	p.Spec.InitContainers = []corev1.Container{racer}
	for i := range starts {
		c := mounting(shell(fmt.Sprint("victim-", i), "ls /host/etc/shadow > /seen/$HOSTNAME 2>/dev/null; true"), seen)
		p.Spec.InitContainers = append(p.Spec.InitContainers, mounting(c, corev1.VolumeMount{Name: "v", MountPath: "/host", SubPath: "a"}))
	}
	p.Spec.Volumes = []corev1.Volume{volume("v", emptyDir("", "")), volume("seen", emptyDir("", ""))}
	w.create(p)
	w.waitFor(time.Duration(starts)*10*time.Second, "p", "is Ready", isReady)
	if log := w.waitLog("p", "all started"); strings.Contains(log, "shadow") {
		t.Errorf("a container saw the node's files: %s", log)
	}
}

func TestB068APartOfAConfigMapDoesNotFollowIt(t *testing.T) {
	w := shared(t)
	w.configMap("cm", map[string]string{"k": "old"})
	p := pod("p", mounting(shell("c", "while true; do echo $(cat /k) $(cat /all/k); sleep 1; done"), corev1.VolumeMount{Name: "cm", MountPath: "/k", SubPath: "k"}))
	p.Spec.Volumes = []corev1.Volume{volume("cm", corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}})}
	p.Spec.Containers[0] = mounting(p.Spec.Containers[0], corev1.VolumeMount{Name: "cm", MountPath: "/all"})
	warnings := w.post(harness.PodPath(w.ns, ""), p, nil)
	if !slices.ContainsFunc(warnings, func(s string) bool { return strings.Contains(s, "spec.containers[0].volumeMounts[0]: with a subPath") }) {
		t.Errorf("warnings: %q", warnings)
	}
	w.waitLog("p", "old old")
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm"}, Data: map[string]string{"k": "new"}}
	if _, err := w.Do(w.ctx(), http.MethodPut, "/api/v1/namespaces/"+w.ns+"/configmaps/cm", cm, nil); err != nil {
		t.Fatal(err)
	}
	w.waitLog("p", "old new") // the whole volume has followed, the part of it has not
	got := w.ready("p")
	if c := api.PodCondition(&got.Status, api.VolumeUpdates); c == nil || c.Status != corev1.ConditionFalse ||
		!strings.Contains(c.Message, "spec.containers[0].volumeMounts[0]") {
		t.Errorf("condition %+v", c)
	}
	w.delete("p", 0)
	w.gone("p", testTimeout)
	w.create(p)
	w.waitLog("p", "new new")
}
