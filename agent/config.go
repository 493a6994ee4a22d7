// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Config says who a node is, where it keeps its things, and what runs its pods.
type Config struct {
	// Name is the node's name, a DNS subdomain.
	Name string
	// Server is the address of the server's gRPC listener, host:port or
	// unix:///path.
	Server string
	// StateDir holds what outlives the agent. It must be absolute.
	StateDir string
	// RuntimeEndpoint is the CRI socket of a runtime that is there already, such as
	// unix:///run/containerd/containerd.sock. Empty: the node runs its own
	// containerd from RuntimeDir.
	RuntimeEndpoint string
	// RuntimeDir holds containerd, its shim, runc, the CNI plugins and pause.tar.
	RuntimeDir string
	// ImagesDir holds image archives (*.tar, OCI or docker save) that the node shall
	// have without a registry; empty means images in RuntimeDir, if that exists.
	ImagesDir string
	// ClusterCIDR holds the pod ranges of all nodes; traffic between them keeps
	// its addresses.
	ClusterCIDR netip.Prefix
	// IPs are the node's addresses, primary first; empty means to detect one.
	IPs    []string
	Labels map[string]string
	// Reserved is what of the machine is not for pods.
	Reserved corev1.ResourceList
	// MaxPods bounds the pods on the node, MaxStarts those that start at once.
	MaxPods   int
	MaxStarts int
	// MaxParallelPulls is how many images are pulled at once; 0 is a default.
	MaxParallelPulls int
	// PullProgressDeadline is how long a pull may stand still; 0 is a default.
	PullProgressDeadline time.Duration
	// RegistryCredentials is a file with the node's own logins for registries, as
	// Docker's config.json; empty means config.json in StateDir. It need not exist.
	RegistryCredentials string
	// ClusterDomain is what the names of pods with a subdomain end in; empty means
	// DefaultClusterDomain.
	ClusterDomain string
	// AllowedUnsafeSysctls are those that pods may set besides the safe ones: names, or
	// beginnings that end in *.
	AllowedUnsafeSysctls []string
	// Health is the address of /healthz and /metrics; empty means none.
	Health string
	Logger *slog.Logger
}

// DefaultMaxPods is how many pods a node takes unless told otherwise.
const DefaultMaxPods = 110

// DefaultClusterDomain is the one that most clusters have.
const DefaultClusterDomain = "cluster.local"

// runRoot holds the run directories of all nodes of the machine.
const runRoot = "/run/berth"

func (c *Config) validate() error {
	if errs := validation.IsDNS1123Subdomain(c.Name); len(errs) > 0 {
		return fmt.Errorf("node name %q: %s", c.Name, strings.Join(errs, "; "))
	}
	if c.Server == "" {
		return fmt.Errorf("server: the address of a server must be given")
	}
	if f := c.RegistryCredentials; f != "" && !filepath.IsAbs(f) {
		return fmt.Errorf("file of registry credentials %q: must be an absolute path", f)
	}
	return checkStateDir(c.StateDir)
}

func checkStateDir(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("state directory %q: must be an absolute path", path)
	}
	return nil
}

// NodeID is the node's short id, 8 hexadecimal digits, by which it marks all that
// it takes of the machine. It follows from the machine and the state directory, so
// an agent whose state was lost finds its containers again.
func NodeID(stateDir string) string {
	machine, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		name, _ := os.Hostname()
		machine = []byte(name)
	}
	sum := sha256.Sum256(append(machine, stateDir...))
	return hex.EncodeToString(sum[:4])
}

// RunDir is where the node of a state directory has its sockets and what does not
// outlive the machine's run.
func RunDir(stateDir string) string { return filepath.Join(runRoot, NodeID(stateDir)) }
