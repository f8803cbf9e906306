"""Golden conversations: what machines say, packet by packet, as reviewed text.

After a change of the protocol that is meant: pytest tests/protocol --regenerate-golden, and
read the difference.
"""

from pathlib import Path

import pytest
from golden_aggregation import AggregationConversation
from golden_script import replay
from golden_streams import StreamConversation
from golden_tree import TreeConversation

SCRIPTS = sorted((Path(__file__).parent / "golden").glob("*.txt"))
SET_UP = {
    "job": AggregationConversation,
    "streams": StreamConversation,
    "tree": TreeConversation,
}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_conversation_goes_as_written(script, regenerate_golden):
    written = script.read_text(encoding="utf-8")
    said = replay(written, SET_UP)
    if regenerate_golden:
        script.write_text(said, encoding="utf-8")
    else:
        assert said == written


def test_a_changed_outcome_is_noticed():
    written = next(path for path in SCRIPTS if path.stem == "lost_update").read_text(
        encoding="utf-8"
    )
    changed = written.replace("[3]", "[4]")
    assert changed != written
    assert replay(changed, SET_UP) == written
