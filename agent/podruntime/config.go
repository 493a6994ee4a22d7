// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"errors"
	"log/slog"
	"path/filepath"

	"golang.org/x/sync/semaphore"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-run/berth/agent/cri"
	"github.com/berth-run/berth/agent/podruntime/images"
	"github.com/berth-run/berth/agent/podtypes"
)

// defaultMaxStarts is what was best on two cores: with more, sandboxes only wait
// for each other inside the runtime.
const defaultMaxStarts = 8

// Objects looks up what pods refer to. A missing object is an error for which
// apimachinery's errors.IsNotFound holds.
type Objects interface {
	Secret(namespace, name string) (*corev1.Secret, error)
	ConfigMap(namespace, name string) (*corev1.ConfigMap, error)
	RuntimeClass(name string) (*nodev1.RuntimeClass, error)
}

// Config says what a Runtime works with.
type Config struct {
	CRI *cri.Client
	// NodeName is the node's name, as pods see it.
	NodeName string
	// NodeID is the node's short id, the value of the label by which the node
	// knows its sandboxes and containers in a runtime that it shares.
	NodeID string
	// HostIPs are the node's addresses, as pods see them, primary first.
	HostIPs []string
	// LogDir holds a directory of container logs for each pod.
	LogDir string
	// PodDir is a pod's own directory on the node.
	PodDir func(types.UID) string
	// CgroupParent is the pod's cgroup, in the form that the runtime's cgroup
	// driver takes.
	CgroupParent func(*corev1.Pod) string
	// Volumes are the pod's mounted volumes by name.
	Volumes func(types.UID) map[string]podtypes.Volume
	// SubPath mounts a part of a volume at a place that no container can change, and
	// returns the place.
	SubPath func(types.UID, podtypes.SubPath) (string, error)
	Objects Objects
	// Handlers are what the runtime can run pods with.
	Handlers func() []corev1.NodeRuntimeHandler
	// Allocatable is what the node has for pods.
	Allocatable func() corev1.ResourceList
	// Processes, unless nil, lists those of a container.
	Processes func(pod *corev1.Pod, containerID string) ([]int, error)
	// Probes, unless nil, are asked for what is to be stopped.
	Probes Probes
	// MemoryCapacity of the node in bytes; 0 is what the machine has.
	MemoryCapacity int64
	// ResolvConf is the file whose DNS settings pods get; empty is the node's.
	ResolvConf string
	// ClusterDomain is what the names of pods with a subdomain end in.
	ClusterDomain string
	// SeccompDir holds the node's own seccomp profiles.
	SeccompDir string
	// UserRange returns the first of the node's user ids that a pod with users of its
	// own has.
	UserRange func(types.UID) (uint32, error)
	// OwnBridge says that the network of pods is the node's own, in which each sandbox
	// is on a bridge.
	OwnBridge bool
	// MaxStarts is how many pods may be starting at once; 0 is 8.
	MaxStarts int
	// Images says how images are pulled; its Client and Recorder are those of this
	// configuration.
	Images images.Config

	Recorder podtypes.EventRecorder
	Logger   *slog.Logger
}

// Runtime runs pods in a CRI runtime. Its methods may be called at the same time
// for different pods; for one pod, SyncPod and KillPod are called one at a time.
type Runtime struct {
	cfg       Config
	images    *images.Manager
	starts    *semaphore.Weighted
	ends      *semaphore.Weighted
	crashes   *crashBackOff
	addresses *addresses
	log       *slog.Logger
	recorder  podtypes.EventRecorder
}

// New returns a Runtime. It makes no call to the runtime, which may not be there
// yet.
func New(cfg Config) (*Runtime, error) {
	switch {
	case cfg.CRI == nil, cfg.PodDir == nil, cfg.CgroupParent == nil, cfg.Volumes == nil,
		cfg.Objects == nil, cfg.Allocatable == nil, cfg.Recorder == nil, cfg.Logger == nil:
		return nil, errors.New("podruntime: an incomplete configuration")
	case cfg.NodeID == "":
		return nil, errors.New("podruntime: NodeID: required")
	case !filepath.IsAbs(cfg.LogDir):
		return nil, errors.New("podruntime: LogDir: must be an absolute path")
	}
	if cfg.MaxStarts == 0 {
		cfg.MaxStarts = defaultMaxStarts
	}
	if cfg.ResolvConf == "" {
		cfg.ResolvConf = nodeResolvConf()
	}
	if cfg.MemoryCapacity == 0 {
		var err error
		if cfg.MemoryCapacity, err = machineMemory(); err != nil {
			return nil, err
		}
	}
	cfg.Images.Client, cfg.Images.Recorder = cfg.CRI.Images, cfg.Recorder
	return &Runtime{
		cfg:       cfg,
		images:    images.New(cfg.Images),
		starts:    semaphore.NewWeighted(int64(cfg.MaxStarts)),
		ends:      newEndSlots(),
		crashes:   newCrashBackOff(),
		addresses: newAddresses(),
		log:       cfg.Logger,
		recorder:  cfg.Recorder,
	}, nil
}
