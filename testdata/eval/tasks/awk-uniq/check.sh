# Seen by nobody who works on the task.
set -e
test "$(printf 'B x\na\nb X\nA\na\n' | awk -f uniq.awk | tr '\n' ,)" = '2 B x,3 a,'
