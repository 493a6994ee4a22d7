// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// EventName names an event of the object by a stamp, such as the time in
// nanoseconds: the object's name, as much of it as fits, and the stamp in
// hexadecimal digits.
func EventName(object string, stamp int64) string {
	suffix := fmt.Sprintf(".%x", stamp)
	room := validation.DNS1123SubdomainMaxLength - len(suffix)
	return strings.TrimRight(object[:min(len(object), room)], "-.") + suffix
}
