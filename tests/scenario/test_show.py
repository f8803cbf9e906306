"""`innet check --show` prints the network, and `innet plot --topology` draws it."""

import pytest

from innet.cli.main import run_command
from innet.report.numbers import short_bytes
from innet.report.results import read_run
from innet.scenario.load import parse_scenario
from innet.scenario.show import describe_network
from innet.scenario.templates import template_text

RACKS = """\
version: 1
name: racks
collective: {size: 4 KiB}
algorithms: [ring]
topology:
  kind: leaf_spine
  racks: 2
  hosts: 2
  spines: 2
  uplinks: 2
  link: {rate: 10 Gbps, delay: 500 ns}
  spine_link: {rate: 40 Gbps, loss: 0.001}
  latencies: {spine1: 1 us}
  aggregates: leaves
workers: {1: {link: {rate: 1 Gbps}}}
"""


def test_nodes_by_tier_cables_by_class_and_a_route():
    assert describe_network(parse_scenario(RACKS), "1, 2").splitlines()[:-1] == [
        "network:",
        "  tier 0  4 ranks: worker0, worker1, worker2, worker3",
        "  tier 1  2 switches: leaf0, leaf1; 400 ns, can sum",
        "  tier 2  1 switch: spine0; 400 ns, forwards only",
        "  tier 2  1 switch: spine1; 1 us, forwards only",
        "  class host: 3 cables of 10 Gbps, 500 ns",
        "  class host: 1 cable of 1 Gbps, 500 ns",
        "  class spine: 8 cables of 40 Gbps, 1 us, loss 0.001",
        # Two cables to either spine, and two from it.
        "  route 1 -> 2: one of 8 equal paths, by its hash",
    ]


def test_a_route_names_its_nodes_and_the_classes_of_its_links():
    near = describe_network(parse_scenario(RACKS), "3,2").splitlines()[-2:]
    assert near == [
        "  route 3 -> 2: the only shortest path",
        "    worker3 -host-> leaf1 -host-> worker2",
    ]
    far = describe_network(parse_scenario(RACKS)).splitlines()[-1]
    assert far in {
        f"    worker0 -host-> leaf0 -spine-> spine{x} -spine-> leaf1 -host-> worker3"
        for x in range(2)
    }


def test_a_star_has_an_aggregation_tree_of_one_switch():
    told = describe_network(parse_scenario(template_text("quickstart"))).splitlines()
    assert told[-2:] == [
        "  aggregation tree",
        "    switch: 8 workers (worker0, worker1, worker2, worker3, worker4, worker5, worker6, "
        "worker7)",
    ]


def test_check_prints_the_network_and_plot_draws_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "racks.yaml").write_text(RACKS)
    assert run_command(["check", "racks.yaml", "--show", "--route", "0,1"]) == 0
    out = capsys.readouterr().out
    assert "topology     leaf_spine; switches: 2 leaf, 2 spine" in out
    assert (
        "host link    10 Gbps, 500 ns, loss 0, unlimited queue (4 cables, of which 1 differ)" in out
    )
    assert "  route 0 -> 1: the only shortest path" in out
    assert "kind: leaf_spine" in out
    assert run_command(["plot", "--topology", "racks.yaml"]) == 0
    assert capsys.readouterr().out == "racks_topology.svg\n"
    assert (tmp_path / "racks_topology.svg").read_bytes().startswith(b"<?xml")
    more = ["--set", "topology.racks=4", "-q", "-o", "four.png"]
    assert run_command(["plot", "--topology", "racks.yaml", *more]) == 0
    assert (tmp_path / "four.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["check", "racks.yaml", "--route", "0"], "--route: '0' is no pair of ranks; write two of"),
        (["check", "racks.yaml", "--route", "0,4"], "--route: '0,4' is no pair of ranks"),
        (["check", "racks.yaml", "--route", "a,b"], "--route: 'a,b' is no pair of ranks"),
        (["plot"], "give either run directories or --topology SCENARIO"),
        (["plot", "runs/x", "--topology", "racks.yaml"], "give either run directories or"),
        (["plot", "--topology", "racks.yaml", "-o", "x.gif"], "'.gif' is not a plot format"),
        (["plot", "--topology", "absent.yaml"], "absent.yaml: there is no such file"),
        (["plot", "--topology", "racks.yaml", "-o", "no/where/x.svg"], "no/where"),
    ],
)
def test_what_cannot_be_shown_is_refused(tmp_path, monkeypatch, capfd, command, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "racks.yaml").write_text(RACKS)
    (tmp_path / "no").write_text("a file")
    assert run_command(command) == 2
    assert told in " ".join(capfd.readouterr().err.replace("\u2502", " ").split())


def test_bytes_by_class_stand_below_the_table(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "racks.yaml").write_text(RACKS.replace(", loss: 0.001", ""))
    assert run_command(["run", "racks.yaml", "-q", "--no-plots"]) == 0
    out = capfd.readouterr().out
    # 2 (n - 1) / n of 4 KiB in packets with 78 B of headers, up and down for each of 4 workers;
    # two edges of the ring cross from rack to rack, over two cables each.
    step = 1024 + 78
    host, spine = 4 * 2 * 6 * step, 2 * 2 * 6 * step
    assert f"ring  host {short_bytes(host)}, spine {short_bytes(spine)}" in out
    (run,) = read_run(tmp_path / "runs" / "racks").results.points[0].runs
    assert run.class_bytes == {"host": host, "spine": spine}
