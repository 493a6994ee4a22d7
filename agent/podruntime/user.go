// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"
)

// imageUser is who an image runs as, by number or by name; root where it names none.
type imageUser struct {
	id   *int64
	name string
}

// settleUser looks at the user of the container's image where it matters: the pod
// wants no root, or a group and leaves the user to the image.
func (s *podSync) settleUser(ctx context.Context, c *corev1.Container, config *runtimeapi.ContainerConfig) error {
	sc := effectiveSecurity(s.pod, c)
	nonRoot := ptr.Deref(sc.RunAsNonRoot, false)
	if sc.RunAsUser == nil && (nonRoot || sc.RunAsGroup != nil) {
		user, err := s.imageUser(ctx, config.GetImage().GetImage())
		if err != nil {
			return err
		}
		security := config.GetLinux().GetSecurityContext()
		security.RunAsUser, security.RunAsUsername = int64Value(user.id), user.name
		if nonRoot {
			return checkNonRoot(s.pod, c, nil, user)
		}
		return nil
	}
	if nonRoot {
		return checkNonRoot(s.pod, c, sc.RunAsUser, imageUser{})
	}
	return nil
}

func (r *Runtime) imageUser(ctx context.Context, image string) (imageUser, error) {
	reply, err := r.cfg.CRI.Images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: image}})
	if err != nil {
		return imageUser{}, fmt.Errorf("user of image %s: %w", image, plain(err))
	}
	return toImageUser(reply.GetImage()), nil
}

func toImageUser(image *runtimeapi.Image) imageUser {
	switch uid, name := image.GetUid(), image.GetUsername(); {
	case uid != nil:
		return imageUser{id: ptr.To(uid.GetValue())}
	case name != "":
		return imageUser{name: name}
	}
	return imageUser{id: ptr.To(int64(0))}
}

// checkNonRoot refuses to run as root, and as somebody who may be: a name means what
// the image says.
func checkNonRoot(pod *corev1.Pod, c *corev1.Container, asked *int64, image imageUser) error {
	where := fmt.Sprintf("(pod: \"%s_%s(%s)\", container: %s)", pod.Name, pod.Namespace, pod.UID, c.Name)
	switch {
	case asked != nil && *asked == 0:
		return fmt.Errorf("container's runAsUser breaks non-root policy %s", where)
	case asked != nil:
		return nil
	case image.id != nil && *image.id == 0:
		return fmt.Errorf("container has runAsNonRoot and image will run as root %s", where)
	case image.id == nil:
		return fmt.Errorf("container has runAsNonRoot and image has non-numeric user (%s), cannot verify user is non-root %s", image.name, where)
	}
	return nil
}
