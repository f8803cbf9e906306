"""Does a switch do with every packet what the protocol says? Packets, and a comparison."""
