"""What a trace says about a collective: rates, bounds, what limited it."""
