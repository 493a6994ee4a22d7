#!/usr/bin/env bash
# Copyright The berth Authors.
# SPDX-License-Identifier: Apache-2.0
#
# The demo: a server and two nodes on this machine, and a pod on them.
#
# Usage: hack/demo.sh up|down
#
# BERTH_DEMO_DIR, BERTH_DEMO_HTTP and BERTH_DEMO_GRPC say where its data and its
# listeners are, BERTH_DEMO_CIDR from which range its pods get their addresses. Both
# verbs may be repeated.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dir=$(realpath -m "${BERTH_DEMO_DIR:-/var/lib/berth/demo}")
http=${BERTH_DEMO_HTTP:-127.0.0.1:8080}
cidr=${BERTH_DEMO_CIDR:-10.128.0.0/12}
export BERTH_SERVER=${BERTH_DEMO_GRPC:-127.0.0.1:7444}
berth=bin/berth
log=$dir/demo.log
pidfile=$dir/demo.pid

step() { printf '\n==> %s\n' "$*"; }
fail() { printf 'demo: %s\n' "$*" >&2; exit 1; }

# running: the recorded process is there, and is the demo's.
running() {
	{ [[ $(tr '\0' ' ' <"/proc/$(<"$pidfile")/cmdline") == *" --dir $dir "* ]]; } 2>/dev/null
}

# wait_for SECONDS WHAT COMMAND...: waits until the command succeeds, while berth runs.
wait_for() {
	local deadline=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		running || fail "berth has ended, see $log:"$'\n'"$(tail -n 3 "$log")"
		((SECONDS < deadline)) || fail "timed out waiting for $what; see $log"
		sleep 0.1
	done
}

# taken HOST:PORT: something listens there.
taken() { (exec 3<>"/dev/tcp/${1%:*}/${1##*:}") 2>/dev/null; }

nodes_ready() { [[ $($berth nodes --no-headers | grep -c ' Ready ') == 2 ]]; }
pod_ready() { $berth get pod web --no-headers | grep -q '1/1 *Running'; }
pod_ip() { $berth get pod web -o json | sed -n 's/.*"podIP": *"\([^"]*\)".*/\1/p'; }

build_image() {
	mkdir -p bin/images
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/images/web ./images/web
	go run ./images/pause/pack -program bin/images/web -name berth.run/web:1 -out bin/images/web.tar
}

start() {
	local address
	for address in "$http" "$BERTH_SERVER"; do
		! taken "$address" || fail "$address is taken; set BERTH_DEMO_HTTP and BERTH_DEMO_GRPC to free addresses"
	done
	mkdir -p "$dir"
	setsid $berth dev --nodes 2 --dir "$dir" --images-dir bin/images --http "$http" --grpc "$BERTH_SERVER" --socket "" \
		--cluster-cidr "$cidr" \
		>"$log" 2>&1 </dev/null &
	echo $! >"$pidfile"
	# Until it has become berth, it is still this script.
	while kill -0 $! 2>/dev/null && ! running; do sleep 0.01; done
}

up() {
	step "Building the image of the pod"
	build_image
	if running; then
		step "The server and its nodes run already (a new build runs after make demo-down)"
	else
		step "Starting a server and two nodes (log: $log)"
		start
	fi
	wait_for 60 "the nodes" nodes_ready
	$berth nodes -o wide

	local pods=http://$http/api/v1/namespaces/default/pods ip
	step "curl -X POST -H 'Content-Type: application/json' --data @examples/web.json $pods"
	if curl -fsS -o /dev/null "$pods/web" 2>/dev/null; then
		echo "The pod is there already."
	else
		curl -fsS -o /dev/null -X POST -H 'Content-Type: application/json' --data @examples/web.json "$pods"
	fi
	wait_for 60 "the pod to be Ready" pod_ready
	$berth get pods -o wide

	ip=$(pod_ip)
	step "curl http://$ip/"
	wait_for 10 "the page" curl -fsS "http://$ip/"
	curl -fsS "http://$ip/"
	next_steps
}

next_steps() {
	local server=
	[[ $BERTH_SERVER == 127.0.0.1:7444 ]] || server="export BERTH_SERVER=$BERTH_SERVER; "
	step "Next"
	cat <<-END
		  $server$berth logs web
		  $berth get pods -w
		  curl 'http://$http/api/v1/namespaces/default/pods?watch=true'
		  $berth delete pod web
		  make demo-down
	END
}

down() {
	local ids left
	ids=$(node_ids)
	if running; then
		kill -INT "$(<"$pidfile")"
		local deadline=$((SECONDS + 30))
		while running; do
			((SECONDS < deadline)) || fail "berth, process $(<"$pidfile"), does not end; see $log"
			sleep 0.1
		done
	fi
	# These two are the demo's own. Without a berth that came to run, they are all there is.
	rm -f "$pidfile" "$log"
	rmdir "$dir" 2>/dev/null || true
	$berth dev down --dir "$dir"
	left=$(leftovers $ids)
	[[ -z $left ]] || fail "this is left:"$'\n'"$left"
	echo "demo: no process, mount, network namespace, bridge, cgroup or firewall rule is left"
}

# node_ids: the short ids by which the demo's nodes mark what they take of the machine.
node_ids() { sed -n 's|^state = "/run/berth/\([0-9a-f]*\)/.*|\1|p' "$dir"/node*/containerd/config.toml 2>/dev/null || true; }

# leftovers ID...: prints what is left of the demo and of the nodes with these ids. The
# network namespaces of pods are mounts in a node's run directory; a cgroup stays
# while one of its processes lives.
leftovers() {
	local id own
	for own in "$dir/" "${@/#//run/berth/}"; do
		pgrep -af -- "containerd.* $own" | sed 's/^/process /' || true
		awk -v own="$own" 'index($5, own) == 1 {print "mount", $5}' /proc/self/mountinfo
	done
	[[ ! -e $dir ]] || echo "directory $dir"
	for id in "$@"; do
		[[ ! -e /run/berth/$id ]] || echo "directory /run/berth/$id"
		[[ ! -e /sys/class/net/br-$id ]] || echo "bridge br-$id"
		find /sys/fs/cgroup -maxdepth 2 -type d -name "berth-$id" -printf 'cgroup %p\n'
		{ iptables-save | grep -F "berth-$id" | sed 's/^/firewall rule /'; } 2>/dev/null || true
	done
}

[[ $(id -u) == 0 ]] || fail "root is needed: pods take namespaces, mounts and cgroups"
case ${1:-} in
up) up ;;
down) down ;;
*) fail "usage: hack/demo.sh up|down" ;;
esac
