// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/berth-run/berth/internal/statedir"
	"github.com/berth-run/berth/server"
)

const defaultDevDir = "/var/lib/berth/dev"

// madeByDev is the mark of the directory of berth dev. In it are the directories of the
// server and of the nodes node1, node2, …
const (
	madeByDev     = "berth dev"
	devServerName = "server"
	devNodePrefix = "node"
)

var devNodeName = regexp.MustCompile("^" + devNodePrefix + "[1-9][0-9]*$")

// claimDevDir makes the directory and holds it until it is closed.
func claimDevDir(dir string) (*statedir.Dir, error) {
	d, err := statedir.Make(dir)
	if errors.Is(err, statedir.ErrInUse) {
		return nil, fmt.Errorf("--dir %s: another berth dev runs there, or it is being removed", dir)
	}
	if err == nil {
		if err = markDevDir(d); err == nil {
			return d, nil
		}
		d.Close()
	}
	return nil, fmt.Errorf("--dir: %w", err)
}

func markDevDir(d *statedir.Dir) error {
	mark, err := d.ReadMark(madeByDev)
	if errors.Is(err, statedir.ErrNotMarked) {
		err = refuseOtherServer(d.Path())
	}
	if err != nil {
		return err
	}
	mark.MadeBy = madeByDev
	return d.Mark(mark)
}

// refuseOtherServer keeps berth dev from taking over, and removing in the end, a store
// of berth server. One of its own, of before there were marks, has a node beside it.
func refuseOtherServer(dir string) error {
	store := server.StorePath(filepath.Join(dir, devServerName))
	if exists(store) && !exists(filepath.Join(dir, devNodePrefix+"1")) {
		return fmt.Errorf("directory %s: berth dev did not make its %s; name a new or an empty directory", dir, devServerName)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
