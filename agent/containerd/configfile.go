// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"text/template"

	"golang.org/x/sys/unix"

	"github.com/berth-run/berth/internal/atomicfile"
)

//go:embed config.toml.tmpl
var configText string

// Go's quoting of a printable path is also a TOML basic string.
var configTemplate = template.Must(template.New("config.toml").
	Funcs(template.FuncMap{"q": strconv.Quote}).Parse(configText))

// disabledPlugins are of no use to a node: other snapshotters, checks of images by
// external programs, NRI, restarts by containerd itself, and metrics of containerd.
var disabledPlugins = []string{
	"io.containerd.differ.v1.erofs",
	"io.containerd.http.v1.pprof",
	"io.containerd.image-verifier.v1.bindir",
	"io.containerd.metrics.v1.grpc-otel",
	"io.containerd.metrics.v1.grpc-prometheus",
	"io.containerd.monitor.container.v1.restart",
	"io.containerd.monitor.task.v1.cgroups",
	"io.containerd.mount-handler.v1.erofs",
	"io.containerd.nri.v1.nri",
	"io.containerd.snapshotter.v1.blockfile",
	"io.containerd.snapshotter.v1.erofs",
	"io.containerd.snapshotter.v1.native",
}

// renderConfig is containerd's config.toml. The cgroup driver is cgroupfs: pods
// run below the node's own cgroup, which no systemd unit stands for.
func (r *Runtime) renderConfig(canLowerOOMScore bool) ([]byte, error) {
	oomScore := 0
	if canLowerOOMScore {
		oomScore = -999
	}
	var out bytes.Buffer
	err := configTemplate.Execute(&out, map[string]any{
		"Root":                filepath.Join(r.cfg.Dir, "root"),
		"State":               r.stateDir(),
		"Temp":                filepath.Join(r.cfg.Dir, "tmp"),
		"Opt":                 filepath.Join(r.cfg.Dir, "opt"),
		"Certs":               filepath.Join(r.cfg.Dir, "certs.d"),
		"OOMScore":            oomScore,
		"RestrictOOMScoreAdj": !canLowerOOMScore,
		"Disabled":            disabledPlugins,
		"Socket":              r.socket(),
		"TTRPC":               r.socket() + ".ttrpc",
		"ShimSockets":         filepath.Join(r.cfg.RunDir, "s"),
		"PauseImage":          PauseImage,
		"BinDir":              r.cfg.BinDir,
		"NetworkDir":          r.networkDir(),
		"Shim":                r.shim(),
		"Runc":                filepath.Join(r.cfg.BinDir, "runc"),
		"RuncRoot":            filepath.Join(r.cfg.RunDir, "runc"),
	})
	return out.Bytes(), err
}

// prepare makes the directories and writes the configuration. It tells whether the
// configuration changed.
func (r *Runtime) prepare() (changed bool, err error) {
	if err := r.checkPrograms(); err != nil {
		return false, err
	}
	for _, dir := range []string{filepath.Join(r.cfg.Dir, "certs.d"), r.networkDir(), r.cfg.RunDir} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return false, fmt.Errorf("containerd: %w", err)
		}
	}
	capable, err := hasCapability("/proc/self/status", unix.CAP_SYS_RESOURCE)
	if err != nil {
		return false, fmt.Errorf("containerd: %w", err)
	}
	text, err := r.renderConfig(capable)
	if err != nil {
		return false, fmt.Errorf("containerd: render %s: %w", r.configFile(), err)
	}
	return writeIfChanged(r.configFile(), text)
}

// checkPrograms names the first program of the node runtime that is missing.
func (r *Runtime) checkPrograms() error {
	for _, name := range []string{"containerd", "containerd-shim-runc-v2", "runc", "bridge", "host-local", "portmap"} {
		path := filepath.Join(r.cfg.BinDir, name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("containerd: %s is missing; build the node runtime with `make runtime`, or name another with --runtime-endpoint", path)
		} else if err != nil {
			return fmt.Errorf("containerd: %w", err)
		}
	}
	return nil
}

// writeIfChanged replaces the file as a whole, and only if its content differs.
func writeIfChanged(path string, content []byte) (changed bool, err error) {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return false, nil
	}
	if err := atomicfile.Write(path, content, 0o644); err != nil {
		return false, fmt.Errorf("write %s: %w", path, err)
	}
	return true, nil
}
