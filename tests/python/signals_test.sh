#!/usr/bin/env bash
export LIBGRAPEVINE="$TEST_SRCDIR/$TEST_WORKSPACE/capi/libgrapevine.so"
exec python3 "$TEST_SRCDIR/$TEST_WORKSPACE/tests/python/signals_test.py"
