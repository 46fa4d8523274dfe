#!/bin/bash
# Sets up, builds everything and runs all tests. The last line is `N passed, N failed`; exits 1 if anything failed.
# usage: deploy/test.sh [FLAGS FOR BAZEL]
source "$(dirname "$0")/lib.sh"

if deploy/setup.sh; then
  bazel_test "$@"
else
  FAILED=1
fi
echo "$PASSED passed, $FAILED failed"
[[ $FAILED -eq 0 ]]
