# Seen by nobody who works on the task.
set -e
d=$(mktemp -d)
echo now >$d/l
echo one >"$d/l.1"
echo two >"$d/l.2"
echo three >"$d/l.3"
sh rotate.sh "$d/l"
test ! -s "$d/l"
grep -q now "$d/l.1"
grep -q one "$d/l.2"
grep -q two "$d/l.3"
