#!/usr/bin/env bash
exec python3 "$TEST_SRCDIR/$TEST_WORKSPACE/tests/tools/split_brain_test.py"
