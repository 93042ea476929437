# awk -f second.awk FILE
