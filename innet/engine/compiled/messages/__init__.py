"""Messages between hosts in compiled code: reliable streams, schedules, switches that forward."""
