# awk -f sum.awk FILE
