// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"net"
	"path"
	"strings"
)

// Image is what logins are matched with.
type Image struct {
	// Registry is its host, perhaps with a port.
	Registry string
	// Repository is the path there, without tag and digest.
	Repository string
}

// pattern is the key of a login: a host, a host with a path, or a URL of either.
type pattern struct {
	// host may have * and ? for parts of its names.
	host, port string
	// path is what the repository begins with; empty for all of the registry.
	path string
}

// parsePattern takes apart the likes of https://index.docker.io/v1/, whose version
// is no part of a repository.
func parsePattern(server string) pattern {
	if _, rest, found := strings.Cut(server, "://"); found {
		server = rest
	}
	host, path, _ := strings.Cut(server, "/")
	for _, version := range []string{"v1", "v2"} {
		if rest, ok := strings.CutPrefix(path+"/", version+"/"); ok {
			path = rest
			break
		}
	}
	p := pattern{path: strings.TrimRight(path, "/")}
	p.host, p.port = splitPort(host)
	return p
}

func splitPort(host string) (name, port string) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	return host, ""
}

// matches compares as the kubelet does: the port is the same, each part of the name
// fits, and the repository begins with the path.
func (p pattern) matches(i Image) bool {
	host, port := splitPort(i.Registry)
	if !strings.HasPrefix(i.Repository, p.path) {
		return false
	}
	if isDockerHub(p.host) && isDockerHub(host) {
		return true
	}
	return p.port == port && sameHost(p.host, host)
}

// sameHost matches name by name, so that * never stands for a dot.
func sameHost(pattern, host string) bool {
	patterns, names := strings.Split(pattern, "."), strings.Split(host, ".")
	if len(patterns) != len(names) {
		return false
	}
	for i := range patterns {
		if ok, err := path.Match(patterns[i], names[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

// isDockerHub knows the names that one registry has in configurations.
func isDockerHub(host string) bool {
	return host == "docker.io" || host == "index.docker.io" || host == "registry-1.docker.io"
}
