// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"regexp"
)

// PauseImage is the name of the sandbox image in Config.PauseTar.
const PauseImage = "berth.run/pause:1"

// Config says where a node's containerd lives. All paths are absolute.
type Config struct {
	// Dir holds what survives a reboot: images, metadata, configuration, log.
	Dir string
	// RunDir holds sockets and transient state, such as /run/berth/<id>. It must
	// be short: the path of a unix socket ends at 107 bytes.
	RunDir string
	// BinDir holds containerd, its shim, runc and the CNI plugins.
	BinDir string
	// NodeID is the node's short id, 8 hexadecimal digits.
	NodeID string
	// PauseTar is the OCI archive of PauseImage.
	PauseTar string
	// ImagesDir, unless empty, holds image archives (*.tar, OCI or docker save) that the
	// node shall have without a registry.
	ImagesDir string
	// ClusterCIDR, if valid, holds the pod ranges of all nodes: traffic to it
	// keeps the pod's address. The zero value stands for the node's own range.
	ClusterCIDR netip.Prefix
	// Logger receives the supervisor's messages; containerd's own go to a file.
	Logger *slog.Logger
}

// maxRunDir leaves room for a shim's socket, <RunDir>/s/<64 hex digits>; containerd
// refuses a socket directory of more than 42 bytes.
const maxRunDir = 42 - len("/s")

var nodeID = regexp.MustCompile(`^[0-9a-f]{8}$`)

func (c *Config) validate() error {
	for field, path := range map[string]string{"Dir": c.Dir, "RunDir": c.RunDir, "BinDir": c.BinDir, "PauseTar": c.PauseTar} {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("containerd: %s %q: must be an absolute path", field, path)
		}
	}
	if len(c.RunDir) > maxRunDir {
		return fmt.Errorf("containerd: RunDir %q: must not be longer than %d bytes", c.RunDir, maxRunDir)
	}
	if !nodeID.MatchString(c.NodeID) {
		return fmt.Errorf("containerd: NodeID %q: must be 8 hexadecimal digits", c.NodeID)
	}
	if c.Logger == nil {
		return errors.New("containerd: Logger: required")
	}
	return nil
}

// Runtime is a node's own containerd. Its methods may be called at any time and
// from several goroutines; Run owns the process.
type Runtime struct {
	cfg     Config
	log     *slog.Logger
	trouble trouble
}

// New checks the configuration. Nothing is written or started before Run.
func New(cfg Config) (*Runtime, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Runtime{cfg: cfg, log: cfg.Logger.With("node", cfg.NodeID)}, nil
}

// Endpoint is the address of the CRI socket: unix:///….
func (r *Runtime) Endpoint() string { return "unix://" + r.socket() }

// CgroupRoot is the cgroup below which all of the node's pods run.
func (r *Runtime) CgroupRoot() string { return "/" + r.name() }

// name is the node's name in whatever it takes from the machine.
func (r *Runtime) name() string   { return "berth-" + r.cfg.NodeID }
func (r *Runtime) bridge() string { return "br-" + r.cfg.NodeID }

func (r *Runtime) socket() string     { return filepath.Join(r.cfg.RunDir, "containerd.sock") }
func (r *Runtime) recordFile() string { return filepath.Join(r.cfg.RunDir, "process.json") }
func (r *Runtime) stateDir() string   { return filepath.Join(r.cfg.RunDir, "state") }
func (r *Runtime) ipamDir() string    { return filepath.Join(r.cfg.RunDir, "ipam") }
func (r *Runtime) configFile() string { return filepath.Join(r.cfg.Dir, "config.toml") }
func (r *Runtime) logFile() string    { return filepath.Join(r.cfg.Dir, "containerd.log") }
func (r *Runtime) networkDir() string { return filepath.Join(r.cfg.Dir, "net.d") }
func (r *Runtime) program() string    { return filepath.Join(r.cfg.BinDir, "containerd") }
func (r *Runtime) shim() string       { return filepath.Join(r.cfg.BinDir, "containerd-shim-runc-v2") }
