"""Training steps: a process a rank, above any network that runs operations."""
