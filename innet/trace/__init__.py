"""Records of a run."""
