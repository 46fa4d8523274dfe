#!/bin/bash
# Prints `train_local_samples_s VALUE`: samples/s of `rowan-ctr train` on 600,000 generated rows, parsed on the fly,
# with the default flags, everything in one process. The median of five runs; --profile of the last one to stderr.
# usage: train_local_bench.sh ROWAN_CTR
set -euo pipefail
ctr=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ctr" generate --rows=600000 --seed=1 --out="$work/clicks.tsv" >&2
"$ctr" generate --rows=1000 --seed=2 --out="$work/test.tsv" >&2
for run in 1 2 3 4 5; do
  "$ctr" train --data="$work/clicks.tsv" --test_data="$work/test.tsv" --model_dir= --summary_json="$work/$run.json" \
    --profile --log_level=error >"$work/out" 2>/dev/null
done
cat "$work/out" >&2
python3 - "$work" <<'PY'
import glob, json, sys
rates = sorted(json.load(open(path))['samples_per_second'] for path in glob.glob(sys.argv[1] + '/*.json'))
print(f'samples/s: {rates[0]:.0f} to {rates[-1]:.0f}', file=sys.stderr)
print(f'train_local_samples_s {rates[len(rates) // 2]:.0f}')
PY
