// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"errors"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/opencontainers/cgroups"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/api"
)

// DefaultMount is where the machine mounts its cgroups.
const DefaultMount = "/sys/fs/cgroup"

// Version is a version of the kernel's cgroup interface.
type Version int

// The versions. Hybrid machines, which mount version 2 without controllers beside
// version 1, count as version 1.
const (
	V1 Version = 1
	V2 Version = 2
)

// Detect tells which version the machine uses.
func Detect() Version {
	if cgroups.IsCgroup2UnifiedMode() {
		return V2
	}
	return V1
}

// Config says which cgroups a Manager keeps.
type Config struct {
	// Root is the node's cgroup, /berth-<id>.
	Root string
	// Mount is where cgroups are mounted; empty means DefaultMount.
	Mount string
	// Version is the version mounted there; zero means that of the machine.
	Version Version
	// Driver is what the runtime says that it uses; empty means Cgroupfs.
	Driver Driver
	Logger *slog.Logger
}

// Driver is how a runtime makes cgroups.
type Driver string

// The drivers that a runtime can have.
const (
	Cgroupfs Driver = "cgroupfs"
	Systemd  Driver = "systemd"
)

// Manager keeps the cgroups of one node. Its methods may be called from several
// goroutines, but only from one at a time for the same pod.
type Manager struct {
	root string
	tree tree

	mu sync.Mutex
	// burstable are the shares of the class, 0 until they are known.
	burstable uint64
}

// tree is one version's way to write a cgroup. A path is relative to the mount and
// the same in every hierarchy.
type tree interface {
	// ensure makes the cgroup in each hierarchy where it is missing, with the fresh
	// figures, and gives it the present ones where it is there; nil leaves it as it
	// is. Without a parent the error is fs.ErrNotExist.
	ensure(path string, fresh, present *cgroups.Resources) error
	// dirs are the directories that stand for the path, whether or not they exist.
	dirs(path string) []string
	// kill ends every process in the cgroup's directory and below it.
	kill(dir string) error
}

// New checks the configuration; Setup makes what it says.
func New(cfg Config) (*Manager, error) {
	if !path.IsAbs(cfg.Root) || path.Clean(cfg.Root) != cfg.Root || cfg.Root == "/" {
		return nil, fmt.Errorf("cgroup root %q: must be a clean absolute path below /", cfg.Root)
	}
	if cfg.Logger == nil {
		return nil, errors.New("cgroup: Logger: required")
	}
	if cfg.Driver != "" && cfg.Driver != Cgroupfs {
		return nil, fmt.Errorf("cgroup driver %q is not supported: configure the runtime for %q", cfg.Driver, Cgroupfs)
	}
	tree, err := newTree(cfg)
	if err != nil {
		return nil, err
	}
	return &Manager{root: cfg.Root, tree: tree}, nil
}

func newTree(cfg Config) (tree, error) {
	mount := cfg.Mount
	if mount == "" {
		mount = DefaultMount
	}
	version := cfg.Version
	if version == 0 {
		version = Detect()
	}
	if version == V2 {
		return newV2(mount, cfg.Logger)
	}
	return newV1(mount, cfg.Logger)
}

// PodPath is the pod's cgroup, as the CRI wants it for a sandbox's cgroup parent.
func (m *Manager) PodPath(pod *corev1.Pod) string {
	return path.Join(m.classPath(api.QoSClass(pod)), podPrefix+string(pod.UID))
}

const podPrefix = "pod"

func (m *Manager) classPath(class corev1.PodQOSClass) string {
	if class == corev1.PodQOSGuaranteed {
		return m.root
	}
	return path.Join(m.root, strings.ToLower(string(class)))
}

func (m *Manager) classPaths() []string {
	return []string{
		m.classPath(corev1.PodQOSGuaranteed),
		m.classPath(corev1.PodQOSBurstable),
		m.classPath(corev1.PodQOSBestEffort),
	}
}

// Pods lists the pods that have a cgroup, also those that the agent no longer knows.
func (m *Manager) Pods() ([]types.UID, error) {
	found := sets.New[types.UID]()
	for _, class := range m.classPaths() {
		for _, dir := range m.tree.dirs(class) {
			children, err := filepath.Glob(filepath.Join(dir, podPrefix+"*"))
			if err != nil {
				return nil, fmt.Errorf("cgroup %s: %w", class, err)
			}
			for _, child := range children {
				found.Insert(types.UID(strings.TrimPrefix(filepath.Base(child), podPrefix)))
			}
		}
	}
	return sets.List(found), nil
}
