# Seen by nobody who works on the task.
set -e
python3 -B - <<'X'
from roman import roman
assert roman(1994) == 'MCMXCIV' and roman(3999) == 'MMMCMXCIX' and roman(49) == 'XLIX'
for bad in (0, 4000, -1):
    try:
        roman(bad)
    except ValueError:
        continue
    raise SystemExit(bad)
X
