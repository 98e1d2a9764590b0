"""Our programs on a host, with the configurations, objects and plugins that they are given."""
