# Seen by nobody who works on the task.
set -e
python3 -B - <<'X'
from fill import fill
assert fill('{a} {{b}} {b}', {'a': '{b}', 'b': 2}) == '{b} {b} 2'
try:
    fill('{c}', {})
except KeyError:
    pass
else:
    raise SystemExit(1)
X
