// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package node describes the machine to the server: what it has, where it is
// reached, and whether it can run pods now.
package node

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/agent/podtypes"
)

// Runtime is what the node asks its container runtime.
type Runtime interface {
	Status(ctx context.Context) (podtypes.RuntimeStatus, error)
}

// Events tells users what happens to the node. RecordNode never blocks.
type Events interface {
	RecordNode(eventType, reason, message string)
}

// How often the runtime is asked whether it can run pods.
const (
	askEvery           = 10 * time.Second
	askEveryUntilReady = 100 * time.Millisecond
)

// Config says who the node is.
type Config struct {
	Name string
	// IPs are the node's addresses, primary first.
	IPs    []string
	Labels map[string]string
	// MaxPods bounds the pods on the node.
	MaxPods int
	// Reserved is what of the machine is not for pods.
	Reserved corev1.ResourceList
	// StateDir lies on the file system whose size is the node's ephemeral storage.
	StateDir string
	// RuntimeVersion is shown in the node's info, such as containerd://2.4.2.
	RuntimeVersion string
	AgentVersion   string
	Runtime        Runtime
	Events         Events
	Logger         *slog.Logger
}

// Node keeps the machine's description current.
type Node struct {
	cfg     Config
	machine machine
	changed chan struct{}

	mu         sync.Mutex
	status     podtypes.RuntimeStatus
	conditions []corev1.NodeCondition
	// spec is what the server last said of the node.
	spec corev1.NodeSpec
	// labels are those that the server last said; before that, the node's own.
	labels map[string]string
}

// New reads what the machine has. Its readiness is false until Run has asked the
// runtime.
func New(cfg Config) (*Node, error) {
	m, err := readMachine(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	n := &Node{cfg: cfg, machine: m, changed: make(chan struct{}, 1), labels: ownLabels(cfg)}
	n.setStatus(podtypes.RuntimeStatus{Reason: "Starting", Message: "the runtime has not been asked yet"})
	return n, nil
}

// Run asks the runtime for its status until ctx ends.
func (n *Node) Run(ctx context.Context) error {
	n.cfg.Events.RecordNode(corev1.EventTypeNormal, "Starting", "Starting the agent")
	for {
		status, err := n.cfg.Runtime.Status(ctx)
		if err != nil {
			status = podtypes.RuntimeStatus{Reason: "RuntimeNotResponding", Message: err.Error()}
		}
		if ctx.Err() == nil {
			n.setStatus(status)
		}
		wait := askEvery
		if !canRunPods(status) {
			wait = askEveryUntilReady
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// setStatus takes in an answer of the runtime and signals a change of substance.
func (n *Node) setStatus(status podtypes.RuntimeStatus) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if status.Handlers == nil { // a runtime that does not answer says nothing against them
		status.Handlers, status.Features = n.status.Handlers, n.status.Features
	}
	if n.conditions != nil && reflect.DeepEqual(status, n.status) {
		return
	}
	if n.conditions != nil {
		n.tellReady(n.status, status)
	}
	n.status = status
	n.conditions = conditions(status, n.conditions, metav1.Now())
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

// Changed signals that Node says something new of its status.
func (n *Node) Changed() <-chan struct{} { return n.changed }

// Assign takes in what the server says of the node: its labels, its taints and its
// pod range.
func (n *Node) Assign(node *corev1.Node) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.spec = *node.Spec.DeepCopy()
	n.labels = maps.Clone(node.Labels)
}

// NetworkReady returns nil when pods can be given a network of their own.
func (n *Node) NetworkReady() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.status.NetworkReady {
		return nil
	}
	return errors.New("the node's network is not ready: " + n.status.Message)
}

// RuntimeReady returns nil when the runtime answers and can start containers.
func (n *Node) RuntimeReady() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.status.Ready {
		return nil
	}
	return errors.New("the runtime is not ready: " + n.status.Message)
}

// Registration returns what the agent itself says of the node, with the pod range
// that it has: what users set on the stored Node is theirs to change and never
// told back.
func (n *Node) Registration() *corev1.Node {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.object(ownLabels(n.cfg), corev1.NodeSpec{PodCIDR: n.spec.PodCIDR})
}

// Node returns the node as it stands now, with the labels and taints that users
// gave it: what pods are admitted against. The caller may keep it.
func (n *Node) Node() *corev1.Node {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.object(maps.Clone(n.labels), *n.spec.DeepCopy())
}

func (n *Node) object(labels map[string]string, spec corev1.NodeSpec) *corev1.Node {
	capacity := n.machine.capacity(n.cfg.MaxPods)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.cfg.Name, Labels: labels},
		Spec:       spec,
		Status: corev1.NodeStatus{
			Capacity:    capacity,
			Allocatable: allocatable(capacity, n.cfg.Reserved),
			Phase:       corev1.NodeRunning,
			Conditions:  slices.Clone(n.conditions),
			Addresses:   addresses(n.cfg),
			NodeInfo:    n.machine.info(n.cfg),

			RuntimeHandlers: slices.Clone(n.status.Handlers),
			Features:        n.status.Features.DeepCopy(),
		},
	}
}
