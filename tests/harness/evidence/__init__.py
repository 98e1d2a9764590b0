"""What tells how a test went: leftovers, metrics, findings of sanitizers, recordings of the original."""
