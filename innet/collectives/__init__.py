"""Point-to-point collective algorithms as schedules."""
