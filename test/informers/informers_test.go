// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package informers

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/test/internal/harness"
)

// scale is how much a run does.
type scale struct {
	pods   int // and a tenth of it of each other kind
	kills  int
	within time.Duration // bounds the test
}

func thisScale() scale {
	if os.Getenv("BERTH_SOAK") != "" {
		return scale{pods: 200, kills: 20, within: 15 * time.Minute}
	}
	return scale{pods: 40, kills: 2, within: 2 * time.Minute}
}

// TestInformersSurviveKills has informers for all kinds, of clients that speak JSON
// and of clients that speak protobuf, see the server killed while it is written to.
// Once they list and watch, and once a watch brings them all (WatchList).
func TestInformersSurviveKills(t *testing.T) {
	for _, watchList := range []bool{false, true} {
		t.Run(fmt.Sprintf("WatchList=%v", watchList), func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, watchList)
			surviveKills(t, thisScale(), watchList)
		})
	}
}

func surviveKills(t *testing.T, s scale, watchList bool) {
	ctx, cancel := context.WithTimeout(t.Context(), s.within)
	defer cancel()
	c := startServer(t, ctx)
	sets := []*informerSet{
		startInformers(t, ctx, c, runtime.ContentTypeJSON),
		startInformers(t, ctx, c, runtime.ContentTypeProtobuf),
	}
	lives := newLives(s.pods)
	var work errgroup.Group
	work.Go(func() error { return lives.run(ctx, c) })
	for i := range s.kills {
		if err := lives.reach(ctx, float64(i+1)/float64(s.kills+1)); err != nil {
			t.Error(err)
			break
		}
		killServer(t, ctx, c)
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		set.awaitEqual(t, ctx, c)
		if streamed := set.streamed.Load(); (streamed >= int64(len(api.Kinds))) != watchList {
			t.Errorf("the %s informers began %d watches with all objects", set.contentType, streamed)
		}
	}
}

func startServer(t *testing.T, ctx context.Context) *harness.Cluster {
	t.Helper()
	c, err := suite.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the server:\n%s", c.Server.Tail(4000))
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Start(ctx, 0); err != nil {
		t.Fatal(err)
	}
	return c
}

func killServer(t *testing.T, ctx context.Context, c *harness.Cluster) {
	t.Helper()
	if err := c.Server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Server.Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitServer(ctx); err != nil {
		t.Fatal(err)
	}
}
