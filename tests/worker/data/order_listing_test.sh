#!/bin/bash
# The Python at the head of order.h computes the vectors that order_test.cc holds the C++ function to.
set -euo pipefail
python3 -B - <<'PY'
import sys
sys.path.insert(0, 'common')
from rowan_key import mix
head = open('worker/data/order.h').read().split('\n#ifndef')[0].splitlines()
assert max(map(len, head)) <= 120, 'a longer line is broken by clang-format'
begin = next(i for i, line in enumerate(head) if 'M = 2**64' in line)
listing = {'mix': mix}
exec('\n'.join(line.removeprefix('//   ') for line in head[begin:]), listing)
def rows(count, *order):
    return [listing['row_at'](count, *order, position) for position in range(count)]
assert rows(10, 0, 0, 10) == [4, 3, 2, 8, 0, 7, 6, 5, 1, 9], rows(10, 0, 0, 10)
assert rows(10, 42, 3, 4) == [2, 0, 3, 1, 4, 6, 7, 5, 9, 8], rows(10, 42, 3, 4)
assert rows(5, 1, 2, 0) == [0, 1, 2, 3, 4]
n = 1_000_000_007
assert listing['row_at'](n, 7, 1, n, 0) == 978525127
assert listing['row_at'](n, 7, 1, n, n - 1) == 186070247
PY
