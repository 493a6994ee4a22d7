// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corepb "github.com/berth-run/berth/proto/berth/core/v1"
)

const remedy = "Leave them out of the file, or say in it what they are, to leave them to their managers;\n" +
	"--force-conflicts takes them over."

// explainConflicts makes of an apply that was refused for the sake of other managers
// an error that says what belongs to whom. Others are left as they are.
func explainConflicts(err error) error {
	s, ok := status.FromError(err)
	if err == nil || !ok || s.Code() != codes.Aborted {
		return err
	}
	var lines []string
	for _, detail := range s.Details() {
		kubernetes, ok := detail.(*corepb.Status)
		if !ok {
			continue
		}
		for _, c := range kubernetes.GetDetails().GetCauses() {
			if c.GetReason() == string(metav1.CauseTypeFieldManagerConflict) {
				lines = append(lines, fmt.Sprintf("  %s: %s", c.GetField(), c.GetMessage()))
			}
		}
	}
	if len(lines) == 0 {
		return err
	}
	return status.Errorf(s.Code(), "fields belong to other managers:\n%s\n%s", strings.Join(lines, "\n"), remedy)
}
