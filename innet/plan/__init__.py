"""What an engine or an emulator runs: plain immutable data, with everything resolved."""
