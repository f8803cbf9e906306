"""What is written to stdout, to a pipe and to a terminal."""

import sys

import pytest
from rich.text import Text

from innet.cli.output import write_lines

LONG = "x" * 300


@pytest.fixture
def lines():
    return [Text("heading", "bold"), Text("3 wrong", "red"), Text(LONG), Text("[brackets] :smile:")]


def test_a_pipe_gets_whole_lines_and_no_colours(lines, capsys):
    write_lines(lines)
    assert capsys.readouterr().out == f"heading\n3 wrong\n{LONG}\n[brackets] :smile:\n"


def test_a_terminal_gets_colours(lines, capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    write_lines(lines)
    written = capsys.readouterr().out
    assert "\x1b[31m3 wrong" in written
    assert LONG in written
