# Seen by nobody who works on the task.
set -e
d=$(mktemp -d)
printf '# A=0\nA=1\n\nB=x=y\nA=2\n' >$d/f
test "$(sh dotenv.sh $d/f A)" = 2
test "$(sh dotenv.sh $d/f B)" = x=y
! sh dotenv.sh $d/f C
