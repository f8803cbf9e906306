"""The tensors that a collective sums: made from a seed, read from files, and checked."""
