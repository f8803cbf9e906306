"""A Python switch: a data plane behind ports, and the process that runs it."""
