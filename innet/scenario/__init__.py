"""Scenario files: schema, loader, sweeps, and the plan made of them."""
