"""The commands that read run directories."""

import pytest


@pytest.fixture
def sweep(innet, scenario):
    text = scenario.read_text() + "sweep: {topology.workers: [2, 4]}\n"
    scenario.write_text(text)
    assert innet("run", scenario, "--no-plots")[0] == 0
    return "runs/small"


def test_plot_writes_where_it_says(innet, sweep, tmp_path):
    code, out, err = innet("plot", sweep, "--y", "busbw")
    assert (code, err) == (0, "")
    assert out == "runs/small/plots/busbw_against_workers.svg\n"
    assert (tmp_path / out.strip()).read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_plot_takes_the_format_from_the_ending(innet, sweep, tmp_path, name, start):
    assert innet("plot", sweep, "-o", name, "-q") == (0, "", "")
    assert (tmp_path / name).read_bytes().startswith(start)


def test_plot_says_what_was_swept(innet, sweep):
    code, _, err = innet("plot", sweep, "--x", "loss")
    assert code == 2
    assert "what was: topology.workers" in err


def test_compare_finds_a_change(innet, sweep, scenario):
    innet("run", scenario, "--no-plots", "--out", "other", "--set", "topology.link.rate=1 Gbps")
    code, out, err = innet("compare", sweep, "other/small")
    assert (code, err) == (0, "")
    assert "topology.link.rate: 10 Gbps -> 1 Gbps" in out
    assert "topology.workers=4  ring" in out


def test_explain_gives_reasons(innet, sweep):
    code, out, err = innet("explain", sweep)
    assert (code, err) == (0, "")
    assert out.count("why:") == out.count("helps:") == 4
    assert "fastest: " in out
