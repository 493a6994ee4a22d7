// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/podmanager"
	"github.com/berth-run/berth/agent/podtypes"
	"github.com/berth-run/berth/agent/volume"
)

// leftovers shows what others keep of the volumes of pods that are gone. They are looked
// for when somebody asks.
type leftovers struct{ find func() []volume.Leftover }

var leftoverVolume = prometheus.NewDesc("berth_agent_leftover_volume",
	"1 for each volume in memory of a pod that is gone, which others keep: where they have it mounted, and the processes that have files of it open.",
	[]string{"uid", "path", "mounted", "processes"}, nil)

func (l leftovers) Describe(to chan<- *prometheus.Desc) { to <- leftoverVolume }

func (l leftovers) Collect(to chan<- prometheus.Metric) {
	for _, v := range l.find() {
		to <- prometheus.MustNewConstMetric(leftoverVolume, prometheus.GaugeValue, 1,
			string(v.UID), v.Path, strings.Join(v.Mounted, ","), strings.Join(v.HeldBy, ","))
	}
}

// tellDetached tells users of a pod, as long as there is a record of it, that others use
// its volumes.
func tellDetached(pods *podmanager.Manager, recorder podtypes.EventRecorder) func(types.UID, error) {
	return func(uid types.UID, why error) {
		if pod, ok := pods.PodByUID(uid); ok {
			recorder.Record(pod, "", corev1.EventTypeWarning, "FailedUnMount", why.Error())
		}
	}
}
