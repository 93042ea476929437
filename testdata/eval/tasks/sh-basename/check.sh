# Seen by nobody who works on the task.
set -e
test "$(sh base.sh /usr/lib)" = lib
test "$(sh base.sh a)" = a
test "$(sh base.sh /a/b///)" = b
test "$(sh base.sh ///)" = /
