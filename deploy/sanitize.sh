#!/bin/bash
# Runs the tests under the sanitizers, and clang's lock analysis over the whole tree (which counts as one test).
# usage: deploy/sanitize.sh [--minutes=N] [asan|ubsan|tsan|thread-safety|all]...
# Default: all. With --minutes, parts that do not fit are cut short and say so, which is no failure. The last line is
# `N passed, N failed`; exits 1 if anything failed.
source "$(dirname "$0")/lib.sh"

deadline=
parts=()
for word in "$@"; do
  case $word in
    --minutes=*)
      if [[ ! ${word#*=} =~ ^[0-9]{1,6}$ ]]; then
        echo "sanitize.sh: $word: must be a number of minutes" >&2
        exit 2
      fi
      deadline=$((SECONDS + 10#${word#*=} * 60))
      ;;
    asan | ubsan | tsan | thread-safety) parts+=("$word") ;;
    all) parts+=(thread-safety asan tsan ubsan) ;;
    *)
      echo "sanitize.sh: $word: must be asan, ubsan, tsan, thread-safety, all or --minutes=N" >&2
      exit 2
      ;;
  esac
done
[[ ${#parts[@]} -gt 0 ]] || parts=(thread-safety asan tsan ubsan)

thread_safety() {
  local rc=0
  timeout --signal=INT --foreground "$LIMIT" bazel build "${QUIET[@]}" --keep_going --config=thread-safety //... || rc=$?
  case $rc in
    0) PASSED=$((PASSED + 1)) ;;
    124) return 124 ;;
    *)
      FAILED=$((FAILED + 1))
      echo "FAILED: thread-safety" >&2
      ;;
  esac
}

if ! deploy/setup.sh; then
  echo "0 passed, 1 failed"
  exit 1
fi
for part in "${parts[@]}"; do
  if [[ -n $deadline ]]; then
    LIMIT=$((deadline - SECONDS))
    if [[ $LIMIT -lt 60 ]]; then
      echo "$part: left out, no time left"
      continue
    fi
  fi
  echo "$part:"
  rc=0
  if [[ $part == thread-safety ]]; then
    thread_safety || rc=$?
  else
    bazel_test "--config=$part" || rc=$?
  fi
  [[ $rc -eq 0 ]] || echo "$part: cut short, no time left"
done
echo "$PASSED passed, $FAILED failed"
[[ $FAILED -eq 0 ]]
