// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"google.golang.org/grpc"

	"github.com/berth-run/berth/api"
	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

// The service of each kind is the generic one, instantiated with the kind's
// messages, and what the kind has beyond it. Each embeds the generated Unsafe
// interface rather than Unimplemented: a method without an implementation does
// not compile.
type (
	podService struct {
		apipb.UnsafePodsServer
		service[*apipb.CreatePodRequest, *apipb.UpdatePodRequest, *apipb.PodObject, *apipb.PodListObject, apipb.PodWatchEvent, *apipb.PodWatchEvent]
		server *Server
	}
	nodeService struct {
		apipb.UnsafeNodesServer
		service[*apipb.CreateNodeRequest, *apipb.UpdateNodeRequest, *apipb.NodeObject, *apipb.NodeListObject, apipb.NodeWatchEvent, *apipb.NodeWatchEvent]
	}
	namespaceService struct {
		apipb.UnsafeNamespacesServer
		service[*apipb.CreateNamespaceRequest, *apipb.UpdateNamespaceRequest, *apipb.NamespaceObject, *apipb.NamespaceListObject, apipb.NamespaceWatchEvent, *apipb.NamespaceWatchEvent]
	}
	secretService struct {
		apipb.UnsafeSecretsServer
		service[*apipb.CreateSecretRequest, *apipb.UpdateSecretRequest, *apipb.SecretObject, *apipb.SecretListObject, apipb.SecretWatchEvent, *apipb.SecretWatchEvent]
	}
	configMapService struct {
		apipb.UnsafeConfigMapsServer
		service[*apipb.CreateConfigMapRequest, *apipb.UpdateConfigMapRequest, *apipb.ConfigMapObject, *apipb.ConfigMapListObject, apipb.ConfigMapWatchEvent, *apipb.ConfigMapWatchEvent]
	}
	eventService struct {
		apipb.UnsafeEventsServer
		service[*apipb.CreateEventRequest, *apipb.UpdateEventRequest, *apipb.EventObject, *apipb.EventListObject, apipb.EventWatchEvent, *apipb.EventWatchEvent]
	}
	serviceAccountService struct {
		apipb.UnsafeServiceAccountsServer
		service[*apipb.CreateServiceAccountRequest, *apipb.UpdateServiceAccountRequest, *apipb.ServiceAccountObject, *apipb.ServiceAccountListObject, apipb.ServiceAccountWatchEvent, *apipb.ServiceAccountWatchEvent]
		tokens Tokens
	}
	leaseService struct {
		apipb.UnsafeLeasesServer
		service[*apipb.CreateLeaseRequest, *apipb.UpdateLeaseRequest, *apipb.LeaseObject, *apipb.LeaseListObject, apipb.LeaseWatchEvent, *apipb.LeaseWatchEvent]
	}
	priorityClassService struct {
		apipb.UnsafePriorityClassesServer
		service[*apipb.CreatePriorityClassRequest, *apipb.UpdatePriorityClassRequest, *apipb.PriorityClassObject, *apipb.PriorityClassListObject, apipb.PriorityClassWatchEvent, *apipb.PriorityClassWatchEvent]
	}
	runtimeClassService struct {
		apipb.UnsafeRuntimeClassesServer
		service[*apipb.CreateRuntimeClassRequest, *apipb.UpdateRuntimeClassRequest, *apipb.RuntimeClassObject, *apipb.RuntimeClassListObject, apipb.RuntimeClassWatchEvent, *apipb.RuntimeClassWatchEvent]
	}
)

// registerKinds registers the service of every kind of the table.
func (s *Server) registerKinds(r grpc.ServiceRegistrar) {
	pods := &podService{server: s}
	pods.init(api.Pods, s.reg)
	apipb.RegisterPodsServer(r, pods)

	nodes := &nodeService{}
	nodes.init(api.Nodes, s.reg)
	apipb.RegisterNodesServer(r, nodes)

	namespaces := &namespaceService{}
	namespaces.init(api.Namespaces, s.reg)
	apipb.RegisterNamespacesServer(r, namespaces)

	secrets := &secretService{}
	secrets.init(api.Secrets, s.reg)
	apipb.RegisterSecretsServer(r, secrets)

	configMaps := &configMapService{}
	configMaps.init(api.ConfigMaps, s.reg)
	apipb.RegisterConfigMapsServer(r, configMaps)

	events := &eventService{}
	events.init(api.Events, s.reg)
	apipb.RegisterEventsServer(r, events)

	serviceAccounts := &serviceAccountService{tokens: s.tokens}
	serviceAccounts.init(api.ServiceAccounts, s.reg)
	apipb.RegisterServiceAccountsServer(r, serviceAccounts)

	leases := &leaseService{}
	leases.init(api.Leases, s.reg)
	apipb.RegisterLeasesServer(r, leases)

	priorityClasses := &priorityClassService{}
	priorityClasses.init(api.PriorityClasses, s.reg)
	apipb.RegisterPriorityClassesServer(r, priorityClasses)

	runtimeClasses := &runtimeClassService{}
	runtimeClasses.init(api.RuntimeClasses, s.reg)
	apipb.RegisterRuntimeClassesServer(r, runtimeClasses)
}

func (s *service[C, U, O, L, E, PE]) init(k *api.Kind, reg Registry) { s.kind, s.reg = k, reg }
