"""Packet formats and number formats."""
