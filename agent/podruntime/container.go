// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// containerConfig is what the runtime makes a container from, but for its image.
// Its errors are the user's to mend: an object or a volume that is not there, or more
// variables than a program can have.
func (r *Runtime) containerConfig(pod *corev1.Pod, c *corev1.Container, restartCount uint32, podIPs []string) (*runtimeapi.ContainerConfig, error) {
	var size execSize
	vars, err := r.environment(pod, c, podIPs, &size)
	if err != nil {
		return nil, err
	}
	command, err := size.expandAll("command", c.Command, vars.values)
	if err != nil {
		return nil, err
	}
	args, err := size.expandAll("args", c.Args, vars.values)
	if err != nil {
		return nil, err
	}
	mounts, err := r.mounts(pod, c, vars.values, restartCount, podIPs)
	if err != nil {
		return nil, err
	}
	userns, err := r.userNamespace(pod)
	if err != nil {
		return nil, err
	}
	mapMounts(mounts, userns)
	return &runtimeapi.ContainerConfig{
		Metadata:    &runtimeapi.ContainerMetadata{Name: c.Name, Attempt: restartCount},
		Command:     command,
		Args:        args,
		WorkingDir:  c.WorkingDir,
		Envs:        vars.list(),
		Mounts:      mounts,
		Labels:      r.containerLabels(pod, c.Name),
		Annotations: containerAnnotations(c, restartCount),
		LogPath:     containerLogPath(c.Name, restartCount),
		Stdin:       c.Stdin,
		StdinOnce:   c.StdinOnce,
		Tty:         c.TTY,
		StopSignal:  stopSignal(c),
		Linux: &runtimeapi.LinuxContainerConfig{
			Resources:       containerResources(pod, c, r.cfg.MemoryCapacity),
			SecurityContext: r.containerSecurity(pod, c, userns),
		},
	}, nil
}

// containerLogPath is relative to the pod's log directory.
func containerLogPath(container string, restartCount uint32) string {
	return filepath.Join(container, fmt.Sprintf("%d.log", restartCount))
}

// mounts are the container's volumes, the pod's hosts file and the file for the
// container's last words. The two files give way to a volume at their path.
func (r *Runtime) mounts(pod *corev1.Pod, c *corev1.Container, vars map[string]string, restartCount uint32, podIPs []string) ([]*runtimeapi.Mount, error) {
	all, err := r.volumeMounts(pod.UID, c, vars)
	if err != nil {
		return nil, err
	}
	if !hasMount(all, "/etc/hosts") {
		hosts, err := r.writeHosts(pod, podIPs)
		if err != nil {
			return nil, err
		}
		all = append(all, &runtimeapi.Mount{ContainerPath: "/etc/hosts", HostPath: hosts})
	}
	if path := c.TerminationMessagePath; path != "" && !hasMount(all, path) {
		file, err := r.makeTerminationMessage(pod, c.Name, restartCount)
		if err != nil {
			return nil, err
		}
		all = append(all, &runtimeapi.Mount{ContainerPath: path, HostPath: file})
	}
	return all, nil
}
