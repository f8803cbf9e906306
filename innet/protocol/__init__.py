"""The aggregation protocol and the reliable stream, with no clock and no socket."""
