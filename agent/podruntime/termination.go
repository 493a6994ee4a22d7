// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/crilog"
)

// How much of a container's last words is read, the end of them: of its file, in
// bytes, and of its log, in bytes and lines.
const (
	maxTerminationMessage = 4096
	maxLogMessage         = 2048
	maxLogMessageLines    = 80
)

// makeTerminationMessage makes the file that a container may leave its last words
// in. Anyone may write to it, whatever user the container runs as.
func (r *Runtime) makeTerminationMessage(pod *corev1.Pod, container string, restartCount uint32) (string, error) {
	dir := filepath.Join(r.cfg.PodDir(pod.UID), "containers", container)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("termination message of %s: %w", container, err)
	}
	file := filepath.Join(dir, strconv.FormatUint(uint64(restartCount), 10))
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		return "", fmt.Errorf("termination message of %s: %w", container, err)
	}
	if err := os.Chmod(file, 0o666); err != nil { // the umask may have cut it
		return "", fmt.Errorf("termination message of %s: %w", container, err)
	}
	return file, nil
}

// terminationMessage returns an ended container's last words, or "": what it left in
// its file or, if it failed and its policy says so, the end of its log.
func terminationMessage(s *runtimeapi.ContainerStatus) string {
	if words := fileMessage(s); words != "" {
		return words
	}
	policy := corev1.TerminationMessagePolicy(s.GetAnnotations()[terminationMessagePolicyAnnotation])
	if policy != corev1.TerminationMessageFallbackToLogsOnError || s.GetExitCode() == 0 {
		return ""
	}
	end, err := crilog.Last(s.GetLogPath(), maxLogMessageLines, maxLogMessage)
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(end, "\uFFFD")
}

func fileMessage(s *runtimeapi.ContainerStatus) string {
	path := s.GetAnnotations()[terminationMessagePathAnnotation]
	if path == "" {
		return ""
	}
	for _, m := range s.GetMounts() {
		if m.GetContainerPath() == path {
			return readEnd(m.GetHostPath())
		}
	}
	return ""
}

// readEnd never follows a container to a file that is not its own, nor waits: it
// reads regular files only.
func readEnd(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	start := max(0, info.Size()-maxTerminationMessage)
	content, err := io.ReadAll(io.NewSectionReader(f, start, maxTerminationMessage))
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(string(content), "\uFFFD")
}
