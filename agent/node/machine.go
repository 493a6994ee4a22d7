// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-run/berth/agent/hugepages"
	"github.com/berth-run/berth/api"
)

// machine is what does not change while the agent runs.
type machine struct {
	cpus        int
	memoryBytes int64
	diskBytes   int64
	hugePages   corev1.ResourceList
	machineID   string
	systemUUID  string
	bootID      string
	kernel      string
	osImage     string
}

func readMachine(stateDir string) (machine, error) {
	memory, err := memTotal("/proc/meminfo")
	if err != nil {
		return machine{}, err
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(stateDir, &fs); err != nil {
		return machine{}, fmt.Errorf("size of the file system of %s: %w", stateDir, err)
	}
	huge, err := hugepages.Capacity()
	if err != nil {
		return machine{}, err
	}
	return machine{
		cpus:        runtime.NumCPU(),
		hugePages:   huge,
		memoryBytes: memory,
		diskBytes:   int64(fs.Blocks) * fs.Bsize,
		machineID:   firstLine("/etc/machine-id"),
		systemUUID:  firstLine("/sys/class/dmi/id/product_uuid"),
		bootID:      firstLine("/proc/sys/kernel/random/boot_id"),
		kernel:      firstLine("/proc/sys/kernel/osrelease"),
		osImage:     prettyName("/etc/os-release"),
	}, nil
}

func (m machine) capacity(maxPods int) corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(m.cpus), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(m.memoryBytes, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(m.diskBytes, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(int64(maxPods), resource.DecimalSI),
	}
	maps.Copy(list, m.hugePages)
	return list
}

// allocatable is what of the capacity is for pods: all but what is reserved. Huge pages
// are memory that nothing else can have.
func allocatable(capacity, reserved corev1.ResourceList) corev1.ResourceList {
	list := capacity.DeepCopy()
	for name, q := range capacity {
		if api.IsHugePages(name) {
			subtract(list, corev1.ResourceMemory, q)
		}
	}
	for name, q := range reserved {
		subtract(list, name, q)
	}
	return list
}

func subtract(list corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	left, ok := list[name]
	if !ok {
		return
	}
	if left.Sub(q); left.Sign() < 0 {
		left.Set(0)
	}
	list[name] = left
}

func (m machine) info(cfg Config) corev1.NodeSystemInfo {
	return corev1.NodeSystemInfo{
		MachineID:               m.machineID,
		SystemUUID:              m.systemUUID,
		BootID:                  m.bootID,
		KernelVersion:           m.kernel,
		OSImage:                 m.osImage,
		ContainerRuntimeVersion: cfg.RuntimeVersion,
		KubeletVersion:          cfg.AgentVersion,
		OperatingSystem:         runtime.GOOS,
		Architecture:            runtime.GOARCH,
	}
}

// firstLine returns the first line of a file, or nothing: what it reads only
// describes the machine.
func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

func prettyName(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// memTotal returns the machine's memory in bytes.
func memTotal(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) == 3 && fields[0] == "MemTotal:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s: MemTotal: %w", path, err)
			}
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("%s has no MemTotal", path)
}

// DetectIP returns the address that this machine would use towards others, or
// the loopback address where it has none. It sends nothing.
func DetectIP() string {
	// Connecting a UDP socket makes the kernel choose the source address.
	conn, err := net.Dial("udp4", "192.0.2.1:9")
	if err != nil {
		return "127.0.0.1"
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).IP.String()
}
