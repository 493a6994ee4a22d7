#!/usr/bin/env bash
# Copyright The berth Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Checks, or installs, what the tests need beside what builds berth.

set -euo pipefail

say() { printf 'test: %s\n' "$*" >&2; }
. "$(dirname "${BASH_SOURCE[0]}")/need.sh"

need '[[ -x /bin/busybox ]] && ! ldd /bin/busybox' busybox-static
