# Usage: sh rotate.sh FILE
