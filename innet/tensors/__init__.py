"""Real tensors: made by seed, read from files, checked against the exact sum."""
