"""Fills a switch's tables with jobs: the P4 program in Python, or BMv2 over P4Runtime."""
