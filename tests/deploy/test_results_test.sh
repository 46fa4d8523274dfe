#!/bin/bash
# What deploy/test.sh reports for a run of bazel, given that run's events and exit code.
set -euo pipefail

events=$TEST_TMPDIR/events
failures=0

configured() { echo "{\"id\":{\"targetConfigured\":{\"label\":\"$1\"}},\"configured\":{\"targetKind\":\"cc_test rule\",\"testSize\":\"MEDIUM\"}}"; }
library() { echo "{\"id\":{\"targetConfigured\":{\"label\":\"$1\"}},\"configured\":{\"targetKind\":\"cc_library rule\"}}"; }
built() { echo "{\"id\":{\"targetCompleted\":{\"label\":\"$1\"}},\"completed\":{\"success\":true}}"; }
unbuilt() { echo "{\"id\":{\"targetCompleted\":{\"label\":\"$1\"}},\"completed\":{}}"; }
called_off() { echo "{\"id\":{\"testSummary\":{\"label\":\"$1\"}},\"aborted\":{\"reason\":\"USER_INTERRUPTED\"}}"; }
ran() { echo "{\"id\":{\"testSummary\":{\"label\":\"$1\"}},\"testSummary\":{\"overallStatus\":\"$2\"}}"; }

# expect NAME EXIT_CODE COUNTS FAILURES: reads the events from stdin.
expect() {
  cat >"$events"
  local counts named
  counts=$(python3 -B deploy/test_results.py "$events" "$2" 2>"$TEST_TMPDIR/named")
  named=$(cat "$TEST_TMPDIR/named")
  if [[ "$counts" != "$3" || "$named" != "$4" ]]; then
    echo "$1: got '$counts' and '$named', expected '$3' and '$4'"
    failures=1
  fi
}

{ configured //:a; configured //:b; built //:a; built //:b; ran //:a PASSED; ran //:b PASSED; } |
  expect "all pass" 0 "2 0" ""
{ configured //:a; configured //:b; built //:a; built //:b; ran //:a FAILED; ran //:b PASSED; } |
  expect "a test fails" 3 "1 1" "FAILED: //:a"
{ configured //:a; built //:a; ran //:a TIMEOUT; } |
  expect "a test takes too long" 3 "0 1" "TIMEOUT: //:a"
{ configured //:a; built //:a; ran //:a FLAKY; } |
  expect "a test passes sometimes" 0 "0 1" "FLAKY: //:a"
{ configured //:a; configured //:b; unbuilt //:a; built //:b; ran //:b PASSED; } |
  expect "a test does not build" 1 "1 1" "FAILED TO BUILD: //:a"
{ configured //:a; library //:l; built //:a; unbuilt //:l; ran //:a PASSED; } |
  expect "a library does not build" 1 "1 1" "FAILED: the build, bazel exited 1"
{ configured //:a; configured //:b; built //:a; built //:b; ran //:b PASSED; } |
  expect "a test is left out by its tags" 0 "1 0" ""
{ configured //:a; built //:a; ran //:a NO_STATUS; } |
  expect "a test did not run" 3 "0 1" "DID NOT RUN: //:a"
{ library //:l; built //:l; } |
  expect "there are no tests" 0 "0 1" "FAILED: there are no tests"
expect "nothing was read" 1 "0 1" "FAILED: the build, bazel exited 1" </dev/null
{ configured //:a; configured //:b; built //:a; ran //:a PASSED; unbuilt //:b; echo '{"id":{"te'; } |
  expect "no time is left" 124 "1 0" ""
{ configured //:a; configured //:b; built //:a; ran //:a FAILED; ran //:b NO_STATUS; } |
  expect "a test fails, then no time is left" 124 "0 1" "FAILED: //:a"
{ configured //:a; built //:a; called_off //:a; } |
  expect "a test is called off, no time is left" 124 "0 0" ""
{ configured //:a; built //:a; called_off //:a; } |
  expect "a test is called off" 8 "0 1" "DID NOT RUN: //:a"
exit $failures
