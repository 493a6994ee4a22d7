# Copyright The berth Authors.
# SPDX-License-Identifier: Apache-2.0
#
# For scripts that source it: checks what the machine has to have.

# need CHECK PACKAGE: the command CHECK succeeds, or PACKAGE is installed with
# apt, or it is named.
need() {
	local check=$1 package=$2
	eval "$check" >/dev/null 2>&1 && return
	if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
		say "installing $package"
		{ apt-get install -y --no-install-recommends $package ||
			{ apt-get update && apt-get install -y --no-install-recommends $package; }; } >&2
		eval "$check" >/dev/null 2>&1 && return
	fi
	say "missing: $package (checked with: $check)"
	return 1
}
