// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// dirWatcher tells of changes in directories.
type dirWatcher interface {
	// watch returns a channel that gets a token when a file in the directory may have
	// changed, until stop is called.
	watch(dir string) (changed <-chan struct{}, stop func(), err error)
}

// inotify is a dirWatcher of the kernel's notices. All watches share one instance, of
// which a machine has few; it is there while there are watches.
type inotify struct {
	mu      sync.Mutex
	watcher *fsnotify.Watcher
	// ended is closed when the notices of the watcher have ended.
	ended chan struct{}
	dirs  map[string]map[*watch]struct{}
}

// watch is one that is told of a directory.
type watch struct{ changed chan struct{} }

func (w *watch) tell() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (n *inotify) watch(dir string) (changed <-chan struct{}, stop func(), err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.open(); err != nil {
		return nil, nil, fmt.Errorf("watching files: %w", err)
	}
	// Also one that is watched already: it may have been removed and made again.
	if err := n.watcher.Add(dir); err != nil {
		n.closeIfIdle()
		return nil, nil, fmt.Errorf("watching %s: %w", dir, err)
	}
	if n.dirs[dir] == nil {
		n.dirs[dir] = map[*watch]struct{}{}
	}
	w := &watch{make(chan struct{}, 1)}
	n.dirs[dir][w] = struct{}{}
	return w.changed, sync.OnceFunc(func() { n.unwatch(dir, w) }), nil
}

// unwatch ends a watch; with the last one all goroutines have ended.
func (n *inotify) unwatch(dir string, w *watch) {
	if ended := n.drop(dir, w); ended != nil {
		<-ended
	}
}

func (n *inotify) drop(dir string, w *watch) (ended <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.dirs[dir], w)
	if len(n.dirs[dir]) == 0 {
		delete(n.dirs, dir)
		_ = n.watcher.Remove(dir) // it went with the directory, if that did
	}
	return n.closeIfIdle()
}

// open starts the watcher, if need be. The caller holds the lock.
func (n *inotify) open() error {
	if n.watcher != nil {
		return nil
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	n.watcher, n.ended, n.dirs = watcher, make(chan struct{}), map[string]map[*watch]struct{}{}
	go n.forward(watcher, n.ended)
	return nil
}

// closeIfIdle ends a watcher that nobody needs any more, and returns what is closed
// when its goroutine has ended. The caller holds the lock, which that may wait for.
func (n *inotify) closeIfIdle() (ended <-chan struct{}) {
	if len(n.dirs) > 0 {
		return nil
	}
	_ = n.watcher.Close()
	n.watcher = nil
	return n.ended
}

// forward tells of the notices of a watcher until that is closed.
func (n *inotify) forward(watcher *fsnotify.Watcher, ended chan<- struct{}) {
	defer close(ended)
	for {
		select {
		case event, ok := <-watcher.Events:
			if !ok {
				return
			}
			n.tell(filepath.Dir(event.Name))
		case _, ok := <-watcher.Errors:
			if !ok {
				return
			}
			n.tellAll() // notices were lost
		}
	}
}

func (n *inotify) tell(dir string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for w := range n.dirs[dir] {
		w.tell()
	}
}

func (n *inotify) tellAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, watches := range n.dirs {
		for w := range watches {
			w.tell()
		}
	}
}
