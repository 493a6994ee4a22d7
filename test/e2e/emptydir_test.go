// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/api"
)

// withVolume gives the pod a volume, and each of its containers that volume at the path.
func withVolume(p *corev1.Pod, path string, source corev1.VolumeSource) *corev1.Pod {
	name := strings.Trim(notInNames.ReplaceAllString(path, "-"), "-")
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			list[i].VolumeMounts = append(list[i].VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
		}
	}
	return p
}

func emptyDir(medium corev1.StorageMedium, limit string) corev1.VolumeSource {
	source := &corev1.EmptyDirVolumeSource{Medium: medium}
	if limit != "" {
		q := resource.MustParse(limit)
		source.SizeLimit = &q
	}
	return corev1.VolumeSource{EmptyDir: source}
}

func TestB075AnEmptyDirInMemoryHasItsSize(t *testing.T) {
	w := shared(t)
	w.create(withVolume(pod("p", shell("c", `
		test -f /dev/shm/f && echo it survived
		df -k /dev/shm | tail -1
		dd if=/dev/zero of=/dev/shm/f bs=1M count=32; echo "dd ended with $?"; wc -c /dev/shm/f; exit 1`)),
		"/dev/shm", emptyDir(corev1.StorageMediumMemory, "16Mi")))
	log := w.waitLog("p", "16777216 /dev/shm/f")
	for _, want := range []string{" 16384 ", "No space left on device", "dd ended with 1", "16777216 /dev/shm/f"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	w.waitLog("p", "it survived")
}

func TestAnEmptyDirInMemoryIsNoLargerThanItsPod(t *testing.T) {
	w := shared(t)
	c := shell("c", "df -k /v | tail -1; sleep 1000")
	c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
	w.create(withVolume(pod("p", c), "/v", emptyDir(corev1.StorageMediumMemory, "")))
	if log := w.waitLog("p", "/v"); !strings.Contains(log, " 65536 ") {
		t.Errorf("log: %s", log)
	}
}

func TestB075ADiskEmptyDirOverItsLimitEvictsThePod(t *testing.T) {
	w := shared(t)
	w.create(withVolume(pod("p", shell("c", "dd if=/dev/zero of=/cache/f bs=1M count=32; sleep 1000")),
		"/cache", emptyDir(corev1.StorageMediumDefault, "16Mi")))
	w.create(withVolume(pod("small", shell("c", "dd if=/dev/zero of=/cache/f bs=1M count=8; sleep 1000")),
		"/cache", emptyDir(corev1.StorageMediumDefault, "16Mi")))
	w.evicted("p", `Usage of EmptyDir volume "cache" exceeds the limit "16Mi". `)
	if p := w.get("small"); p.Status.Phase != corev1.PodRunning {
		t.Errorf("the pod within its limit: %+v", p.Status)
	}
}

// evicted waits until the pod has failed for that reason.
func (w *world) evicted(name, message string) {
	w.t.Helper()
	// The runtime measures, and the node looks, every 10 s.
	p := w.waitFor(2*testTimeout, name, "has failed", inPhase(corev1.PodFailed))
	if p.Status.Reason != "Evicted" || p.Status.Message != message {
		w.t.Errorf("status: %q, %q", p.Status.Reason, p.Status.Message)
	}
	if c := api.PodCondition(&p.Status, corev1.DisruptionTarget); c == nil || c.Status != corev1.ConditionTrue {
		w.t.Errorf("conditions: %+v", p.Status.Conditions)
	}
	w.waitEvent(name, "Evicted: "+strings.TrimSpace(message))
}

func TestAContainerOverItsStorageLimitEvictsThePod(t *testing.T) {
	w := shared(t)
	limited := func(name, script, limit string) corev1.Container {
		c := shell(name, script)
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse(limit)}
		return c
	}
	w.create(pod("layer", limited("c", "dd if=/dev/zero of=/f bs=1M count=32; sleep 1000", "16Mi"), limited("other", "sleep 1000", "1Gi")))
	w.create(pod("log", limited("c", "dd if=/dev/zero bs=1M count=8 | tr '\\0' '\\n'; sleep 1000", "4Mi"), limited("other", "sleep 1000", "1Gi")))
	w.create(withVolume(pod("all", limited("c", "dd if=/dev/zero of=/v/f bs=1M count=32; sleep 1000", "16Mi")),
		"/v", emptyDir(corev1.StorageMediumDefault, "")))
	w.evicted("layer", `Container c exceeded its local ephemeral storage limit "16Mi". `)
	w.evicted("log", `Container c exceeded its local ephemeral storage limit "4Mi". `)
	w.evicted("all", "Pod ephemeral local storage usage exceeds the total limit of containers 16Mi. ")
}
