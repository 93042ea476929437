# Seen by nobody who works on the task.
set -e
d=$(mktemp -d)
code=0
sh retry.sh 3 sh -c "echo x >>$d/n; exit 7" || code=$?
test $code = 7
test $(wc -l <$d/n) = 3
sh retry.sh 1 test "a b" = "a b"
