# Seen by nobody who works on the task.
set -e
python3 -B - <<'X'
from stats import median
given = [3, 1, 2, 10]
assert median(given) == 2.5 and given == [3, 1, 2, 10]
assert median((5,)) == 5
try:
    median([])
except ValueError:
    pass
else:
    raise SystemExit(1)
X
