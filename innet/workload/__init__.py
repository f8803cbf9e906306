"""What training asks of the network: models, their gradients in buckets, and steps."""
