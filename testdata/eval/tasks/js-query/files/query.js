// query
