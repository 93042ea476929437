# Seen by nobody who works on the task.
set -e
python3 -B - <<'X'
from ranges import merge
given = [(5, 9), (1, 2), (3, 4), (11, 12), (6, 7)]
assert merge(given) == [(1, 9), (11, 12)], merge(given)
assert given[0] == (5, 9)
assert merge([]) == []
X
