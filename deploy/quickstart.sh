#!/bin/bash
# Sets up, builds, and trains the click-through-rate example in one process, showing progress; then evaluates it.
# usage: deploy/quickstart.sh [--data=FILES] [--test_data=FILES] [--summary_json=PATH]
#                             [--servers=N] [--workers=N] [--mode=sync|bounded:S|async] [-- FLAGS FOR rowan-ctr train]
# FILES: Criteo TSV, plain or gzip: a file, a directory, a glob, or several separated by commas. Without --test_data the
# last fifth of the rows is the test. The model goes to build/quickstart/model, which keeps the last three, or to the
# --model_dir among the flags. Without --data, 600,000 clicks of a known model are generated: the best AUC that
# any model could reach on them is printed beside the one reached, and less than LEAST_AUC is a failure.
# With --servers, --workers or --mode the job runs as real processes on this machine: a coordinator, servers and workers
# (deploy/run_cluster.sh); the model is then lost with its servers at the end.
# Exits 0, 2 for wrong flags or input found before training starts, 1 if something failed, 128 + signal after an
# interrupt (130 for SIGINT).
caller=$PWD
source "$(dirname "$0")/lib.sh"
root=$PWD

# Fewer rows, with the AUC that they allow, are for tests.
ROWS=${QUICKSTART_ROWS:-600000}
LEAST_AUC=${QUICKSTART_LEAST_AUC:-0.735}

data=
test_data=
summary=
cluster=()
while [[ $# -gt 0 ]]; do
  word=$1
  shift
  case $word in
    --data=*) data=${word#*=} ;;
    --test_data=*) test_data=${word#*=} ;;
    --summary_json=*) summary=${word#*=} ;;
    --servers=* | --workers=* | --mode=*) cluster+=("$word") ;;
    --) break ;;
    -h | --help)
      sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' deploy/quickstart.sh
      exit 0
      ;;
    *)
      echo "quickstart.sh: $word: must be --data=FILES, --test_data=FILES, --summary_json=PATH, --servers=N," \
        "--workers=N, --mode=MODE, or -- and flags of rowan-ctr train" >&2
      exit 2
      ;;
  esac
done
if [[ -z $data && -n $test_data ]]; then
  echo "quickstart.sh: --test_data=$test_data needs --data" >&2
  exit 2
fi

build_ctr
if [[ ${#cluster[@]} -gt 0 ]]; then
  bazel build "${QUIET[@]}" //server/coordinator:rowan-coordinator //server:rowan-server //server/admin:rowanctl
fi

work=$root/build/quickstart
mkdir -p "$work"
cd "$caller"
flags=()
train=("$CTR" train)
if [[ ${#cluster[@]} -gt 0 ]]; then
  train=("$root/deploy/run_cluster.sh" "${cluster[@]}" --)
elif [[ " $* " != *" --model_dir"* ]]; then
  flags+=("--model_dir=$work/model")
  mkdir -p "$work/model"
  # The run adds a model: keep the two before it.
  find "$work/model" -maxdepth 1 -regex '.*/snapshot-[0-9]*' -print0 | sort -z | head -z -n -2 | xargs -0 -r rm -rf --
fi

if [[ -n $data ]]; then
  [[ -z $test_data ]] || flags+=("--test_data=$test_data")
  [[ -z $summary ]] || flags+=("--summary_json=$summary")
  exec "${train[@]}" --data="$data" "${flags[@]}" "$@"
fi

clicks=$work/clicks-$$.tsv
trap 'rm -f "$clicks" "$work/generated-$$.json" "$work/summary-$$.json"' EXIT
"$CTR" generate --rows="$ROWS" --seed=1 --out="$clicks" --summary_json="$work/generated-$$.json"
summary=${summary:-$work/summary-$$.json}
"${train[@]}" --data="$clicks" --summary_json="$summary" "${flags[@]}" "$@"
python3 - "$work/generated-$$.json" "$summary" "$LEAST_AUC" <<'PY'
import json, sys
best = json.load(open(sys.argv[1]))['best_auc_last_fifth']
auc = json.load(open(sys.argv[2]))['auc']
least = float(sys.argv[3])
print(f'AUC reached: {auc:.4f}; best that any model could reach on these clicks: {best:.4f}; expected: at least {least}')
sys.exit(0 if auc >= least else 1)
PY
