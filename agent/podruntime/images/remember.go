// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"cmp"
	"context"
	"time"

	"github.com/berth-run/berth/agent/podruntime/images/pulled"
)

// rememberTimeout bounds the question what a pull that was called off has left.
const rememberTimeout = 10 * time.Second

func (n *need) what() pulled.Pull {
	return pulled.Pull{Image: n.ref.full, Repository: n.ref.image.Registry + "/" + n.ref.image.Repository}
}

// mayUse tells whether the pod may use the image of that id, which the node has. What
// cannot be told has to be proved anew.
func (n *need) mayUse(id string) bool {
	if n.cfg.Pulled == nil {
		return true
	}
	may, err := n.cfg.Pulled.MayUse(n.what(), id, n.logins)
	if err != nil {
		n.cfg.Logger.Warn("it is not known who may use an image; pods have to pull it", "image", n.ref.full, "err", err)
	}
	return may
}

// remembered pulls the image and remembers with which login.
func (n *need) remembered(ctx context.Context, before string) (id string, got outcome, err error) {
	if n.cfg.Pulled == nil {
		got, err = n.puller.pull(ctx, n.ref, n.logins, n.teller(n.Request))
		return got.id, got, err
	}
	if err := n.cfg.Pulled.Begin(n.what(), before); err != nil {
		return "", got, err
	}
	got, err = n.puller.pull(ctx, n.ref, n.logins, n.teller(n.Request))
	if err == nil {
		id, err = n.idOf(ctx, got)
	}
	if err != nil {
		n.noteFailure(ctx, before)
		return "", got, err
	}
	return id, got, n.cfg.Pulled.Succeeded(n.what(), id, got.login)
}

// idOf is the id by which the runtime lists what was pulled: it may have answered with
// another kind of name.
func (n *need) idOf(ctx context.Context, got outcome) (string, error) {
	image, err := n.status(ctx, got.id)
	return cmp.Or(image.GetId(), got.id), err
}

// noteFailure looks for what a pull that failed has left all the same.
func (n *need) noteFailure(ctx context.Context, before string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rememberTimeout)
	defer cancel()
	now, err := n.present(ctx, n.ref.full)
	if err != nil {
		now = "not known"
	}
	if err := n.cfg.Pulled.Failed(n.what(), now); err != nil {
		n.cfg.Logger.Warn("a pull that failed is remembered as one that goes on", "image", n.ref.full, "err", err)
	}
}
