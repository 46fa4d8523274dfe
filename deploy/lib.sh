# shellcheck shell=bash
# What the scripts of this folder share; to be sourced. Changes into the root of the tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Bazel keeps its files below HOME, which containers and cron leave unset.
if [[ -z "${HOME:-}" ]]; then
  HOME=$(getent passwd "$(id -u)" | cut -d: -f6 || true)
  [[ -n "$HOME" && -d "$HOME" && -w "$HOME" ]] || HOME=/tmp/rowan-home-$(id -u)
  mkdir -p "$HOME"
  export HOME
fi

# Quiet: errors, warnings, failed tests' logs; progress that updates on a terminal, a line every half minute elsewhere.
QUIET=(--show_result=0 --noshow_loading_progress "--ui_event_filters=-info,-debug")
[[ -t 2 ]] || QUIET+=(--color=no --curses=no --show_progress_rate_limit=30)

# Sets CTR to the path of rowan-ctr, built now unless ROWAN_CTR names one that is.
build_ctr() {
  CTR=${ROWAN_CTR:-}
  [[ -z $CTR ]] || return 0
  deploy/setup.sh
  echo "building (some minutes the first time) ..." >&2
  bazel build "${QUIET[@]}" //worker/examples/ctr:rowan-ctr
  CTR=$(bazel info "${QUIET[@]}" bazel-bin 2>/dev/null)/worker/examples/ctr/rowan-ctr
}

# bazel_test FLAGS...: builds everything, runs its tests, adds to PASSED and FAILED and names what failed. A build that
# fails without a failed test counts as one failure, and so does a tree without tests. Returns 0, or 124 if LIMIT, in
# seconds and 0 for none, ran out; the tests that did not run are then not counted.
PASSED=0
FAILED=0
LIMIT=0
bazel_test() {
  local events rc=0 counts
  events=$(mktemp)
  # INT lets bazel stop its actions and write what it knows.
  timeout --signal=INT --foreground "$LIMIT" \
    bazel test "${QUIET[@]}" --keep_going --test_summary=none --build_event_json_file="$events" "$@" //... || rc=$?
  counts=$(python3 deploy/test_results.py "$events" "$rc") || counts="0 1"
  rm -f "$events"
  PASSED=$((PASSED + ${counts% *}))
  FAILED=$((FAILED + ${counts#* }))
  [[ $rc -ne 124 ]] || return 124
}
