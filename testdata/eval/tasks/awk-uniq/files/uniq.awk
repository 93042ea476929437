# awk -f uniq.awk FILE
