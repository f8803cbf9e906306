"""A P4 switch in Python: runs what p4c compiles for BMv2's simple_switch."""
