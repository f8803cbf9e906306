"""From a scenario file to its results: every point and algorithm planned, run and verified."""
