"""In-network operations on a network of hosts and switches, compiled: trees of any depth."""
