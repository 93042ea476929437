# Seen by nobody who works on the task.
set -e
out=$(printf 'aaaa bbbb cccc dddd\neeeeeeeeeeeeeeeeeeeeeeeee f\n' | awk -f wrap.awk | tr '\n' '|')
test "$out" = 'aaaa bbbb cccc dddd|eeeeeeeeeeeeeeeeeeeeeeeee|f|'
