// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rungroup

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// logPart appends its name when it has ended.
func logPart(ended *[]string, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		*ended = append(*ended, name)
		return ctx.Err()
	}
}

func TestPartsEndInReverseOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		var ended []string
		g.Add("store", logPart(&ended, "store"))
		g.Add("api", logPart(&ended, "api"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Run(ctx); err != nil {
			t.Errorf("a wanted end is an error: %v", err)
		}
		if want := []string{"api", "store"}; !slices.Equal(ended, want) {
			t.Errorf("ended %v, want %v", ended, want)
		}
	})
}

func TestOnePartsEndEndsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		var ended []string
		boom := errors.New("boom")
		g.Add("store", logPart(&ended, "store"))
		g.Add("api", func(context.Context) error { return boom })
		err := g.Run(t.Context())
		if !errors.Is(err, boom) || err.Error() != "api: boom" {
			t.Errorf("got %v", err)
		}
		if !slices.Equal(ended, []string{"store"}) {
			t.Errorf("ended %v", ended)
		}
	})
}
