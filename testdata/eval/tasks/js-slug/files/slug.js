// slug
