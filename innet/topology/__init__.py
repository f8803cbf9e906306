"""Graphs, their builders and routes."""
