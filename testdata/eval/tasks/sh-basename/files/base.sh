# Usage: sh base.sh PATH
