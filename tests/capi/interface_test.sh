#!/usr/bin/env bash
# The library shows its own functions alone, and they do what the header says.
set -euo pipefail
cd "$TEST_SRCDIR/$TEST_WORKSPACE"
others=$(nm -D --defined-only capi/libgrapevine.so | awk '$2 == "T" && $3 !~ /^grapevine_/')
[ -z "$others" ] || { echo "the library shows symbols that are not its own: $others" >&2; exit 1; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# By its soname, as an installation has it.
ln -s "$PWD/capi/libgrapevine.so" "$TEST_TMPDIR/libgrapevine.so.1"
LD_LIBRARY_PATH="$TEST_TMPDIR" tests/capi/interface_program "$port"
