#!/bin/bash
# Each benchmark runs briefly and ends well.
set -eu
exec tests/bench/worker/nn/tower_bench --benchmark_min_time=0.01
