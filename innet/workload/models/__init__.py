"""Layer tables of published models, and of a user's own."""
