// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/api"
)

// leftoverPoll is how often a command whose time is over is looked after.
const leftoverPoll = 100 * time.Millisecond

// execGuard sees to it that nothing is left of a command whose time is over.
//
// A runtime kills the process that it has started, and no other: what that process
// has started goes on, and as long as it holds the command's output open, the
// runtime may wait for it. The command's processes are known by their session, of
// which the process that the runtime starts is the leader. The guard notes the
// session while its leader is alive, and ends the others once it is not.
type execGuard struct {
	stop    chan struct{}
	watcher sync.WaitGroup
}

// guardExec begins with the command.
func (r *Runtime) guardExec(pod *corev1.Pod, containerID string, timeout time.Duration) *execGuard {
	g := &execGuard{stop: make(chan struct{})}
	if r.cfg.Processes == nil {
		return g
	}
	began := time.Now()
	g.watcher.Go(func() {
		if !g.pause(timeout) {
			return
		}
		if err := r.endLeftovers(g, pod, containerID, began); err != nil {
			r.log.Warn("processes of a command that timed out may be left", "pod", api.FullName(pod), "container", containerID, "err", err)
		}
	})
	return g
}

// end ends with the command.
func (g *execGuard) end() {
	close(g.stop)
	g.watcher.Wait()
}

// pause waits, and tells whether the command still goes on.
func (g *execGuard) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-g.stop:
		return false
	}
}

// endLeftovers looks after the commands that were begun in the container since then,
// until the one that is guarded has come back, and once more after that.
func (r *Runtime) endLeftovers(g *execGuard, pod *corev1.Pod, containerID string, began time.Time) error {
	sessions := sets.New[int]()
	for goesOn := true; ; goesOn = g.pause(leftoverPoll) {
		processes, err := r.processes(pod, containerID)
		if err != nil {
			return err
		}
		sessions = sessions.Union(commandsSince(processes, time.Since(began)))
		if err := killAll(leftovers(processes, sessions)); err != nil || !goesOn {
			return err
		}
	}
}

// processes lists those in the container.
func (r *Runtime) processes(pod *corev1.Pod, containerID string) ([]process, error) {
	pids, err := r.cfg.Processes(pod, containerID)
	if err != nil {
		return nil, err
	}
	return readProcesses(pids)
}

func killAll(pids []int) error {
	var errs []error
	for _, pid := range pids {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
