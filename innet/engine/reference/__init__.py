"""The reference engine: SimPy, one callback a packet."""
