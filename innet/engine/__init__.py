"""Engines that run a plan in simulated time."""
