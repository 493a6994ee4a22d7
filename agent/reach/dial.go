// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// NewDialer returns a dialer for connections of which many are made and each is soon
// closed. A close resets the connection, for what was to be read has been read by
// then: otherwise the kernel would keep each for a minute, in TIME_WAIT, which a
// longer time to linger does not change.
func NewDialer() *net.Dialer {
	return &net.Dialer{Control: resetAtClose}
}

func resetAtClose(_, _ string, c syscall.RawConn) error {
	var err error
	controlled := c.Control(func(fd uintptr) {
		err = unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	})
	if controlled != nil {
		return controlled
	}
	return err
}
