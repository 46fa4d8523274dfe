#!/bin/bash
# Runs the benchmarks and prints one line a figure: NAME VALUE GOAL. Exits 0 whether a goal is met or not, 1 if a
# benchmark does not build or run.
# usage: deploy/bench.sh [--only=REGEX]     (a regular expression that the whole NAME must match)
source "$(dirname "$0")/lib.sh"

# NAME GOAL TARGET [ARGUMENTS]: one line a figure. TARGET is an executable that is run in the root of the tree and
# prints, among whatever else, the line "NAME VALUE" to stdout.
FIGURES=(
  "lookup_vs_map >=1.4 //tests/bench/server/table:lookup_bench"
  "pull_tcp_vs_socket >=0.55 //tests/bench/worker:transport_bench pull_tcp_vs_socket"
  "pull_unix_vs_socket >=0.6 //tests/bench/worker:transport_bench pull_unix_vs_socket"
  "push_tcp_vs_socket >=0.35 //tests/bench/worker:transport_bench push_tcp_vs_socket"
  "train_local_samples_s >=120000 //tests/bench/worker:train_local_bench bazel-bin/worker/examples/ctr/rowan-ctr"
)

only='.*'
for word in "$@"; do
  case $word in
    --only=*) only=${word#*=} ;;
    *)
      echo "bench.sh: $word: must be --only=REGEX" >&2
      exit 2
      ;;
  esac
done

chosen=()
for figure in "${FIGURES[@]}"; do
  [[ ${figure%% *} =~ ^(${only})$ ]] && chosen+=("$figure")
done
if [[ ${#chosen[@]} -eq 0 ]]; then
  names=("${FIGURES[@]%% *}")
  echo "bench.sh: no figure is called $only; there are: ${names[*]}" >&2
  [[ ${#FIGURES[@]} -eq 0 ]]
  exit
fi

deploy/setup.sh
targets=()
for figure in "${chosen[@]}"; do
  read -r _ _ target _ <<<"$figure"
  targets+=("$target")
done
bazel build "${QUIET[@]}" "${targets[@]}"
bin=$(bazel info "${QUIET[@]}" bazel-bin 2>/dev/null)

status=0
for figure in "${chosen[@]}"; do
  read -r name goal target arguments <<<"$figure"
  target=${target#//}
  # shellcheck disable=SC2086  # ARGUMENTS are words.
  output=$("$bin/${target/:/\/}" $arguments) || output=
  value=$(sed -n "s/^$name \([^ ]*\)\$/\1/p" <<<"$output" | tail -n 1)
  if [[ -z $value ]]; then
    echo "bench.sh: //$target $arguments failed, or printed no line '$name VALUE'" >&2
    status=1
    continue
  fi
  echo "$name $value $goal"
done
exit $status
