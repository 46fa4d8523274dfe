#!/bin/bash
# Runs a module of unittest tests: python_test.sh MODULE.
set -euo pipefail
exec python3 -B -m "$1" -v
