// limit
