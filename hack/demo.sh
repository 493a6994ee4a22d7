#!/usr/bin/env bash
# Copyright The berth Authors.
# SPDX-License-Identifier: Apache-2.0
#
# The demo: a server and two nodes on this machine, and a pod on them.
#
# Usage: hack/demo.sh up|down

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dir=${BERTH_DEMO_DIR:-/var/lib/berth/demo}
http=${BERTH_DEMO_HTTP:-127.0.0.1:8080}
export BERTH_SERVER=${BERTH_DEMO_GRPC:-127.0.0.1:7444}
berth=bin/berth
log=$dir/demo.log
pidfile=$dir/demo.pid

step() { printf '\n==> %s\n' "$*"; }
fail() { printf 'demo: %s\n' "$*" >&2; exit 1; }

# until_true SECONDS WHAT COMMAND...: waits until the command succeeds.
until_true() {
	local deadline=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		running || fail "berth has ended; see $log: $(tail -n 3 "$log")"
		((SECONDS < deadline)) || fail "timed out waiting for $what; see $log"
		sleep 0.1
	done
}

running() { [[ -f $pidfile ]] && kill -0 "$(cat "$pidfile")" 2>/dev/null; }
nodes_ready() { [[ $($berth nodes --no-headers | grep -c ' Ready ') == 2 ]]; }
pod() { curl -fsS "http://$http/api/v1/namespaces/default/pods/web"; }
pod_ready() { $berth get pod web --no-headers | grep -q '1/1 *Running'; }

build_image() {
	mkdir -p bin/images
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/images/web ./images/web
	go run ./images/pause/pack -program bin/images/web -name berth.run/web:1 -out bin/images/web.tar
}

up() {
	[[ $(id -u) == 0 ]] || fail "root is needed: pods take namespaces, mounts and cgroups"
	step "Building the image of the pod"
	build_image
	if running; then
		step "The server and its nodes run already"
	else
		! curl -s "http://$http/" >/dev/null || fail "$http is taken; set BERTH_DEMO_HTTP and BERTH_DEMO_GRPC to free addresses"
		mkdir -p "$dir"
		step "Starting a server and two nodes (log: $log)"
		setsid $berth dev --nodes 2 --dir "$dir" --images-dir bin/images --http "$http" --grpc "$BERTH_SERVER" --socket "" \
			>"$log" 2>&1 </dev/null &
		echo $! >"$pidfile"
	fi
	until_true 60 "the nodes" nodes_ready
	$berth nodes -o wide

	step "POSTing examples/web.json with curl"
	pod >/dev/null 2>&1 || curl -fsS -X POST -H 'Content-Type: application/json' --data @examples/web.json \
		"http://$http/api/v1/namespaces/default/pods"
	until_true 60 "the pod to be Ready" pod_ready
	step "The pod is Ready"
	$berth get pods -o wide

	local ip
	ip=$($berth get pod web -o wide --no-headers | awk '{print $(NF-1)}')
	step "curl http://$ip/"
	until_true 10 "the page" curl -fsS "http://$ip/"
	curl -fsS "http://$ip/"
	step "Next: $berth logs web; $berth delete pod web; make demo-down"
}

down() {
	if running; then
		kill -INT "$(cat "$pidfile")"
		while running; do sleep 0.1; done
	fi
	rm -f "$pidfile"
	$berth dev down --dir "$dir"
	echo "demo: everything is removed"
}

case ${1:-} in
up) up ;;
down) down ;;
*) fail "usage: hack/demo.sh up|down" ;;
esac
