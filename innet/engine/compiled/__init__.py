"""The compiled engine: the packets of the reference engine, simulated in time windows by Numba."""
