# Seen by nobody who works on the task.
set -e
test "$(printf '%s\n' 'a,b,c' | awk -f second.awk)" = b
test "$(printf '%s\n' '"x,y","say ""hi"", you",z' | awk -f second.awk)" = 'say "hi", you'
test "$(printf '%s\n' 'a,,c' | awk -f second.awk)" = ''
