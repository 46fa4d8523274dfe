#!/bin/bash
# The Python twin computes the keys of the vectors that key_test.cc holds the C++ function to.
set -euo pipefail
python3 -B - <<'PY'
import sys
sys.path.insert(0, 'common')
import rowan_key
count = 0
for line in open('tests/common/key_vectors.txt'):
    if line.startswith('#'):
        continue
    feature, id, expected = (eval(field) for field in line.split())
    got = rowan_key.key(feature.encode(), id if isinstance(id, int) else id.encode())
    assert got == expected, f'{line.strip()}: got {got:#x}'
    count += 1
assert count == 7, count
PY
