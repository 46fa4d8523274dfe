#!/bin/bash
# Trains on MovieLens ratings in Criteo's layout and holds the results to what a good implementation of the same model
# reaches. Prints one line a figure: NAME VALUE BOUND.
# usage: deploy/check_quality.sh FOLDER
# FOLDER holds ids.train.criteo.tsv.gz, ids.test.criteo.tsv.gz (users and films alone: only embeddings can know) and
# time.criteo.tsv.gz. Exits 0, 1 if a bound is missed or something failed, 2 if FOLDER lacks a file.
caller=$PWD
source "$(dirname "$0")/lib.sh"

if [[ $# -ne 1 || $1 == -* ]]; then
  echo "check_quality.sh: usage: deploy/check_quality.sh FOLDER" >&2
  exit 2
fi
folder=$(cd "$caller" && realpath -m "$1")
for name in ids.train ids.test time; do
  if [[ ! -r $folder/$name.criteo.tsv.gz ]]; then
    echo "check_quality.sh: $folder/$name.criteo.tsv.gz: cannot read it" >&2
    exit 2
  fi
done

build_ctr
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run NAME FLAGS: one training run, its figures to NAME.json.
run() {
  "$CTR" train --model_dir= --summary_json="$work/$1.json" "${@:2}" >"$work/out" || {
    cat "$work/out"
    exit 1
  }
}
ids=(--data="$folder/ids.train.criteo.tsv.gz" --test_data="$folder/ids.test.criteo.tsv.gz")
for seed in 1 2 3; do
  run "ids-$seed" "${ids[@]}" --seed="$seed"
done
run ids_frozen "${ids[@]}" --row_learning_rate=0
run time --data="$folder/time.criteo.tsv.gz"

python3 - "$work" <<'PY'
import json, operator, sys
def figure(field, *names):
    return sum(json.load(open(f'{sys.argv[1]}/{name}.json'))[field] for name in names) / len(names)
seeds = ['ids-1', 'ids-2', 'ids-3']
missed = 0
for name, value, sign, bound in (
        ('ids_auc', figure('auc', *seeds), '>=', 0.780), ('ids_logloss', figure('logloss', *seeds), '<=', 0.568),
        # With the rows' updates discarded: shows that the check above is able to fail.
        ('ids_auc_frozen_rows', figure('auc', 'ids_frozen'), '<', 0.60), ('time_auc', figure('auc', 'time'), '>=', 0.690)):
    held = {'>=': operator.ge, '<=': operator.le, '<': operator.lt}[sign](value, bound)
    missed += not held
    print(f'{name} {value:.4f} {sign}{bound:.3f}{"" if held else "  MISSED"}')
sys.exit(1 if missed else 0)
PY
