"""The recurrence: loss-free runs on in-order links, without events."""
