"""What an engine says of a run that it cannot simulate exactly; another engine may."""

from innet.errors import ConfigurationError


class RefusedError(ConfigurationError):
    """The engine does not simulate this run; the message names the engine and why."""

    def __init__(self, engine: str, why: str) -> None:
        super().__init__(f"the {engine} engine does not simulate this run: {why}")
        self.engine = engine
        self.why = why
