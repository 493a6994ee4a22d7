#!/usr/bin/env bash
# Copyright The berth Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Builds the node runtime into OUTDIR (default bin/runtime): containerd and its
# runc shim, runc, the CNI plugins, crictl and the pause image.
#
# Usage: hack/runtime.sh [OUTDIR]
#
# Versions and checksums are those of tools/runtime/*/go.mod and go.sum; sources
# come from the Go module proxy. A part whose inputs have not changed since it
# was last built into OUTDIR is skipped. FORCE=1 builds everything again.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$(realpath -m "${1:-$root/bin/runtime}")
stamps=$out/.stamps
ldflags='-s -w -buildid='

say() { printf 'runtime: %s\n' "$*" >&2; }

. "$root/hack/need.sh"

requirements() {
	local failed=0
	need 'command -v go' golang || failed=1
	need 'command -v gcc && echo "#include <stdlib.h>" | gcc -E -' 'gcc libc6-dev' || failed=1
	need 'command -v pkg-config' pkg-config || failed=1
	need 'pkg-config --exists libseccomp' libseccomp-dev || failed=1
	# Not needed to build: the portmap plugin and the node's masquerade rule run it.
	need 'command -v iptables' iptables || failed=1
	return $failed
}

# step PART OUTPUTS INPUT...: runs the function PART unless OUTDIR holds all of
# OUTPUTS (names separated by spaces) and a stamp of the same inputs.
step() {
	local part=$1 outputs=$2 want
	shift 2
	want=$(cat "$@" "${BASH_SOURCE[0]}" <(go env GOVERSION GOARCH) | sha256sum)
	if [[ -z ${FORCE:-} && -f $stamps/$part && $(<"$stamps/$part") == "$want" ]] && built $outputs; then
		say "$part: up to date"
		return
	fi
	say "$part: building"
	rm -f "$stamps/$part"
	"$part"
	printf '%s\n' "$want" >"$stamps/$part"
}

# built NAME...: all of the names are in OUTDIR.
built() {
	local name
	for name in "$@"; do [[ -e $out/$name ]] || return 1; done
}

# tool FAMILY TAGS LDFLAGS PACKAGE...: builds the packages as the family's module pins them.
tool() {
	local family=$1 tags=$2 extra=$3
	shift 3
	GOWORK=off GOFLAGS='' go build -C "$root/tools/runtime/$family" -mod=readonly -trimpath \
		-tags "$tags" -ldflags "$ldflags $extra" -o "$out/" "$@"
}

# pinned FAMILY MODULE: the version of MODULE in the family's go.mod.
pinned() { GOWORK=off go list -C "$root/tools/runtime/$1" -m -f '{{.Version}}' "$2"; }

containerd() {
	local v
	v=$(pinned containerd github.com/containerd/containerd/v2)
	CGO_ENABLED=0 tool containerd 'no_btrfs no_devmapper no_zfs no_tracing no_rdt no_systemd' \
		"-X github.com/containerd/containerd/v2/version.Version=$v" \
		github.com/containerd/containerd/v2/cmd/containerd{,-shim-runc-v2}
}

runc() {
	CGO_ENABLED=1 tool runc 'seccomp urfave_cli_no_docs runc_nocriu' '' github.com/opencontainers/runc
}

cni() {
	local m=github.com/containernetworking/plugins v
	v=$(pinned cni $m)
	CGO_ENABLED=0 tool cni '' "-X $m/pkg/utils/buildversion.BuildVersion=$v" \
		$m/plugins/main/{bridge,loopback} $m/plugins/ipam/host-local $m/plugins/meta/{portmap,firewall}
}

crictl() {
	local v
	v=$(pinned crictl sigs.k8s.io/cri-tools)
	CGO_ENABLED=0 tool crictl '' "-X sigs.k8s.io/cri-tools/pkg/version.Version=$v" \
		sigs.k8s.io/cri-tools/cmd/crictl
}

pause() {
	gcc -Os -Wall -Wextra -Werror -static -nostdlib -ffreestanding -fno-pie -no-pie \
		-fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none \
		-Wl,--build-id=none,-z,norelro,-z,noseparate-code -s \
		-o "$out/pause" "$root/images/pause/pause.c"
	(cd "$root" && go run ./images/pause/pack -program "$out/pause" -out "$out/pause.tar")
}

requirements
mkdir -p "$stamps"
step pause 'pause pause.tar' "$root"/images/pause/pause.c "$root"/images/pause/pack/*.go
step cni 'bridge loopback host-local portmap firewall' "$root"/tools/runtime/cni/go.{mod,sum}
step runc runc "$root"/tools/runtime/runc/go.{mod,sum}
step containerd 'containerd containerd-shim-runc-v2' "$root"/tools/runtime/containerd/go.{mod,sum}
step crictl crictl "$root"/tools/runtime/crictl/go.{mod,sum}
say "ready in $out"
