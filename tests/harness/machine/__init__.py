"""A "host" made of namespaces, its processes, and waiting for them."""
