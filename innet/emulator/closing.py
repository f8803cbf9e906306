"""What is closed at the end of its `with` block, whatever happened there."""

from types import TracebackType
from typing import Self


class Closing:
    """Calls `close` when its block ends; closing twice must do no harm."""

    def close(self) -> None:
        """End and remove what was started."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()
