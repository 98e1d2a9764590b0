"""A whole node of real parts, Multus installed on it, and pods by kubectl."""
