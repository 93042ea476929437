# Seen by nobody who works on the task.
set -e
test "$(printf 'q 1\nb 2\nq 5\n\na 1\n' | awk -f sum.awk | tr '\n' ,)" = "q 6,b 2,a 1,"
