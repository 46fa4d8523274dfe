#!/bin/bash
# Trains the click-through-rate example as real processes on this machine: a coordinator, servers, workers. They talk
# over Unix sockets (TCP with --tcp) on ports that the system chooses; at the end it shows `rowanctl status`, and leaves
# nothing running. The binaries must be built: deploy/quickstart.sh does that and calls this. They are looked for in
# $ROWAN_BIN, or where Bazel puts them.
# usage: deploy/run_cluster.sh [--servers=N] [--workers=N] [--mode=sync|bounded:S|async] [--shards=N] [--tcp]
#                              -- FLAGS FOR rowan-ctr train
# Exits with the first worker's failure: 0, 1, 2, or 128 + signal after an interrupt.
set -euo pipefail
bin=${ROWAN_BIN:-$(cd "$(dirname "$0")/.." && bazel info bazel-bin 2>/dev/null)}
servers=1
workers=1
tcp=
job=()
while [[ $# -gt 0 ]]; do
  word=$1
  shift
  case $word in
    --servers=*) servers=${word#*=} && job+=("$word") ;;
    --workers=*) workers=${word#*=} && job+=("$word") ;;
    --mode=* | --shards=*) job+=("$word") ;;
    --tcp) tcp=yes ;;
    --) break ;;
    *)
      echo "run_cluster.sh: $word: must be --servers=N, --workers=N, --mode=M, --shards=N, --tcp, or -- and flags of" \
        "rowan-ctr train" >&2
      exit 2
      ;;
  esac
done
for number in "$servers" "$workers"; do
  if [[ ! $number =~ ^[1-9][0-9]{0,2}$ ]]; then
    echo "run_cluster.sh: $number: must be a number from 1 to 999" >&2
    exit 2
  fi
done

work=$(mktemp -d)
pids=()
# Whatever happened: asks all processes of ours to end, and waits for them.
end_all() {
  trap '' INT TERM
  local pid
  for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# started PID FILE WHAT: waits until the process has written the file; its log tells why it did not.
started() {
  local tries
  for ((tries = 0; tries < 300; ++tries)); do
    [[ ! -s $2 ]] || return 0
    kill -0 "$1" 2>/dev/null || break
    sleep 0.05
  done
  cat "$work/$3.log" >&2
  echo "run_cluster.sh: $3 did not start" >&2
  exit 1
}

"$bin/server/coordinator/rowan-coordinator" --listen=127.0.0.1:0 --port_file="$work/port" "${job[@]}" \
  >"$work/coordinator.log" 2>&1 &
pids+=($!)
started "$!" "$work/port" coordinator
coordinator=127.0.0.1:$(cat "$work/port")
for ((i = 0; i < servers; ++i)); do
  socket=()
  [[ -n $tcp ]] || socket=(--unix_socket="$work/$i.sock")
  "$bin/server/rowan-server" --coordinators="$coordinator" --listen=127.0.0.1:0 --name="server-$i" "${socket[@]}" \
    >"$work/server-$i.log" 2>&1 &
  pids+=($!)
done

# A worker computes with its share of the cores, unless the flags say otherwise.
threads=()
[[ " $* " == *" --threads"* ]] || threads=(--threads=$((($(nproc) + workers - 1) / workers)))
train=()
for ((i = 0; i < workers; ++i)); do
  "$bin/worker/examples/ctr/rowan-ctr" train --coordinators="$coordinator" "${threads[@]}" "$@" &
  pids+=($!)
  train+=($!)
done
result=0
for pid in "${train[@]}"; do
  code=0
  wait "$pid" || code=$?
  [[ $result -ne 0 ]] || result=$code
done

"$bin/server/admin/rowanctl" --coordinator="$coordinator" status || true
if [[ $result -ne 0 ]]; then
  for log in "$work"/*.log; do
    echo "== ${log##*/}" >&2
    tail -n 5 "$log" >&2
  done
  exit $result
fi
"$bin/server/admin/rowanctl" --coordinator="$coordinator" job stop >/dev/null
