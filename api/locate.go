// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"google.golang.org/protobuf/proto"
)

func locateInMessage(m proto.Message, err error) error { return err }

func locateInJSON(data []byte, into any, err error) error { return err }
