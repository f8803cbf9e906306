"""The host agent: a worker's machines on real sockets, and the process that runs them."""
