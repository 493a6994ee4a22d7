// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// identityVersion precedes each identity. It is raised with each change of
// identityFields; the versions before are kept, so that a container made by an
// older agent is compared with what that agent would have made of it.
const identityVersion = "v1"

// identityFields are what a container is made of and cannot change while it runs:
// a change of any of them replaces the container. Fields are named one by one and
// encoded under names of their own, so that neither a new field of the Kubernetes
// API nor a new default of a field that is not here restarts anything.
//
// Of these a user can change only the image of a pod on the server; the others
// change where a manifest on the node's disk is the source. Resources are not
// here: they can be changed in place.
type identityFields struct {
	Name       string        `json:"name"`
	Image      string        `json:"image"`
	Command    []string      `json:"command,omitempty"`
	Args       []string      `json:"args,omitempty"`
	WorkingDir string        `json:"workingDir,omitempty"`
	Env        []envIdentity `json:"env,omitempty"`
}

// envIdentity is a variable as it is specified. What a reference resolves to is
// no part: a changed ConfigMap restarts nothing.
type envIdentity struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	From  string `json:"from,omitempty"`
}

// identity returns the container's identity, such as v1-0123456789abcdef.
func identity(c *corev1.Container) string {
	f := identityFields{
		Name: c.Name, Image: c.Image, Command: c.Command, Args: c.Args, WorkingDir: c.WorkingDir,
	}
	for i := range c.Env {
		f.Env = append(f.Env, identifyEnv(&c.Env[i]))
	}
	encoded, _ := json.Marshal(f) // of strings, which cannot fail
	sum := sha256.Sum256(encoded)
	return identityVersion + "-" + hex.EncodeToString(sum[:8])
}

func identifyEnv(e *corev1.EnvVar) envIdentity {
	id := envIdentity{Name: e.Name, Value: e.Value}
	switch from := e.ValueFrom; {
	case from == nil:
	case from.FieldRef != nil:
		id.From = "field " + from.FieldRef.FieldPath
	case from.ConfigMapKeyRef != nil:
		id.From = "configMap " + from.ConfigMapKeyRef.Name + "/" + from.ConfigMapKeyRef.Key
	case from.SecretKeyRef != nil:
		id.From = "secret " + from.SecretKeyRef.Name + "/" + from.SecretKeyRef.Key
	}
	return id
}

// sameIdentity tells whether a container with that recorded identity is what the
// spec asks for. An identity of a version that this agent does not know says
// nothing against it: a downgrade must restart nothing.
func sameIdentity(recorded string, c *corev1.Container) bool {
	if !strings.HasPrefix(recorded, identityVersion+"-") {
		return true
	}
	return recorded == identity(c)
}
