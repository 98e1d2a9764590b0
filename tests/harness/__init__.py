"""What the node tests share: a "host" in namespaces of its own, our programs, and a leak checker."""
