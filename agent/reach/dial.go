// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// lingerSeconds is how long the kernel goes on with a connection that was closed.
const lingerSeconds = 1

// NewDialer returns a dialer for connections of which many are made and each is soon
// closed: the kernel keeps none of them for its usual minute.
func NewDialer() *net.Dialer {
	return &net.Dialer{Control: lingerBriefly}
}

func lingerBriefly(_, _ string, c syscall.RawConn) error {
	var err error
	controlled := c.Control(func(fd uintptr) {
		err = unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1, Linger: lingerSeconds})
	})
	if controlled != nil {
		return controlled
	}
	return err
}
