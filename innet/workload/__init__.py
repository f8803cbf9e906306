"""What training asks of the network: gradients in buckets."""
