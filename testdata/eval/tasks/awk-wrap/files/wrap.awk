# awk -f wrap.awk FILE
