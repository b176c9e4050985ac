#!/usr/bin/env bash
exec python3 "$TEST_SRCDIR/$TEST_WORKSPACE/tests/tools/phrases_test.py"
