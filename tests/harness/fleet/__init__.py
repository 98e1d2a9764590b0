"""Many nodes of one cluster on one machine, and what they ask of its API server."""
