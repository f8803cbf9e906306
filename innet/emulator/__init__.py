"""The same protocol in real time: host agents, a switch that runs the P4 program, and control."""
