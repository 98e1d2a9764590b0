"""A real control plane, and programs of ours and of the original that work with it."""
