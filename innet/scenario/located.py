"""Errors at a key below the one that is being validated."""

from collections.abc import Iterable

from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

KeyPath = tuple[str | int, ...]
Problem = tuple[KeyPath, str]


def located_error(problems: Iterable[Problem]) -> ValidationError:
    """Return an error that names, for each problem, the path from here to its key.

    Pydantic merges it into the error of the whole, with the path from the root.
    """
    return ValidationError.from_exception_data(
        "scenario",
        [
            InitErrorDetails(
                type=PydanticCustomError("scenario", "{problem}", {"problem": problem}),
                loc=path,
                input=None,
            )
            for path, problem in problems
        ],
    )
