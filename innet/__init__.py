"""innet: what would in-network aggregation do for this job, and can I run it?"""

__version__ = "0.1.0"
