"""Golden conversations: commands, `----`, and what came of them, in paragraphs of text.

A paragraph that begins with `#` is a remark. Any other is some commands, a line of dashes and
the exact outcome. The first command says what is set up: `job` or `streams`.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

RULE = "----"


class Conversation(Protocol):
    """Something that carries out commands and tells what happened."""

    def do(self, words: list[str]) -> Iterator[str]:
        """Carry out one command; yield the lines of its outcome."""


def replay(text: str, set_up: dict[str, Callable[[list[str]], Conversation]]) -> str:
    """The script with the outcomes that its commands have now."""
    conversation = None
    paragraphs = []
    for paragraph in text.strip().split("\n\n"):
        if paragraph.startswith("#"):
            paragraphs.append(paragraph)
            continue
        commands = paragraph.partition(f"\n{RULE}")[0].splitlines()
        outcome = []
        for command in commands:
            verb, *words = command.split()
            if conversation is None:
                conversation = set_up[verb](words)
            else:
                outcome += conversation.do([verb, *words])
        paragraphs.append("\n".join([*commands, RULE, *outcome]))
    return "\n\n".join(paragraphs) + "\n"


def settings_of(words: list[str]) -> dict[str, str]:
    """`name=value` words."""
    return dict(word.split("=", 1) for word in words)
