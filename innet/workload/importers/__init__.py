"""Training steps from the files of other programs."""
