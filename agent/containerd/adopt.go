// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// record writes down which process was started. That it cannot be written is no reason
// not to use the process: adopt finds it by its command line.
func (r *Runtime) record(p process) {
	text, err := json.Marshal(p)
	if err == nil {
		_, err = writeIfChanged(r.recordFile(), append(text, '\n'))
	}
	if err != nil {
		r.log.Warn("containerd's process could not be recorded", "pid", p.PID, "err", err)
	}
}

// adopt takes a handle of the running containerd: the recorded process, or, if the
// agent died before it could record one, the process with our command line. The only
// error is os.ErrProcessDone: none runs.
func (r *Runtime) adopt() (*handle, error) {
	if p, err := r.recorded(); err == nil {
		if h, err := p.open(); err == nil {
			return h, nil
		}
	}
	for _, e := range listProcesses() {
		if !r.isOurs(e) {
			continue
		}
		if h, err := e.open(); err == nil {
			r.record(e.process)
			return h, nil
		}
	}
	return nil, os.ErrProcessDone
}

func (r *Runtime) recorded() (process, error) {
	text, err := os.ReadFile(r.recordFile())
	if err != nil {
		return process{}, err
	}
	var p process
	return p, json.Unmarshal(text, &p)
}

// isOurs recognises this node's containerd by its executable and arguments.
func (r *Runtime) isOurs(e entry) bool {
	return filepath.Base(e.Executable) == "containerd" && len(e.args) > 0 && slices.Equal(e.args[1:], r.arguments())
}
