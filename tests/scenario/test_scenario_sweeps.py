"""Sweeps expand to validated points; `--set` overrides any key."""

import pytest

from innet.errors import ConfigurationError
from innet.scenario.load import expand, parse_scenario
from innet.scenario.schema import Scenario

BASE = """\
version: 1
name: base
topology: {workers: 4, link: {rate: 10 Gbps, loss: 0.5}}
collective: {size: 1 MiB}
algorithms: [in_network, ring]
"""
SWEPT = BASE + "sweep: {topology.workers: [2, 4, 8], switch.slots: [64, 128]}\n"


def parameters(text: str, *overrides: str) -> list[dict[str, object]]:
    return [point.parameters for point in expand(parse_scenario(text, "s.yaml", overrides))]


def refusal(text: str, *overrides: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        parse_scenario(text, "s.yaml", overrides)
    return str(caught.value)


def test_without_a_sweep_the_scenario_is_the_only_point():
    scenario = parse_scenario(BASE)
    (point,) = expand(scenario)
    assert point.parameters == {}
    assert point.scenario is scenario


def test_a_grid_has_every_combination_and_the_last_key_changes_fastest():
    assert [tuple(point.values()) for point in parameters(SWEPT)] == [
        (2, 64),
        (2, 128),
        (4, 64),
        (4, 128),
        (8, 64),
        (8, 128),
    ]


def test_a_point_is_the_scenario_with_the_swept_values_and_no_sweep():
    point = expand(parse_scenario(SWEPT))[5]
    assert point.parameters == {"topology.workers": 8, "switch.slots": 128}
    assert point.scenario.topology.workers == 8
    assert point.scenario.switch.slots == 128
    assert point.scenario.topology.link.rate == 10**10
    assert point.scenario.sweep is None


def test_parameters_keep_values_as_they_were_written():
    text = BASE + "sweep: {collective.size: [1 KiB, 64 KiB], topology.link.loss: [0, 1e-4]}"
    assert parameters(text)[1] == {"collective.size": "1 KiB", "topology.link.loss": 1e-4}


def test_zipped_keys_change_together():
    text = BASE + "sweep: {zip: {topology.workers: [2, 4], switch.slots: [64, 128]}}"
    assert parameters(text) == [
        {"topology.workers": 2, "switch.slots": 64},
        {"topology.workers": 4, "switch.slots": 128},
    ]


def test_zipped_keys_are_one_axis_of_a_grid():
    text = BASE + (
        "sweep: {seed: [1, 2], zip: {topology.workers: [2, 4], switch.slots: [64, 128]}}"
    )
    assert [tuple(point.values()) for point in parameters(text)] == [
        (1, 2, 64),
        (1, 4, 128),
        (2, 2, 64),
        (2, 4, 128),
    ]


def test_a_key_of_one_worker_and_a_key_of_a_fault_can_be_swept():
    text = BASE + (
        "faults: [{crash: {node: 1, at: 1 us}}]\n"
        "sweep: {workers.3.start: [0 us, 5 us], faults.0.crash.at: [2 us]}"
    )
    point = expand(parse_scenario(text))[1].scenario
    assert point.workers[3].start == 5 * 10**6
    assert point.faults[0].action.model_dump()["at"] == 2 * 10**6


def test_a_required_key_may_be_given_by_the_sweep_alone():
    text = BASE.replace("workers: 4, ", "") + "sweep: {topology.workers: [2, 3]}"
    assert [p.scenario.topology.workers for p in expand(parse_scenario(text))] == [2, 3]


def test_algorithms_can_be_swept_as_lists():
    text = BASE + "sweep: {algorithms: [[ring], [in_network, ring]]}"
    points = expand(parse_scenario(text))
    assert [point.scenario.algorithms for point in points] == [("ring",), ("in_network", "ring")]


def test_what_is_said_of_a_worker_holds_at_the_points_that_have_it():
    text = SWEPT + "workers: {5: {start: 1 us}}\nfaults: [{drop: {from: 6, to: switch}}]\n"
    points = expand(parse_scenario(text))
    assert [len(point.scenario.workers) for point in points] == [0, 0, 0, 0, 1, 1]
    assert [len(point.scenario.faults) for point in points] == [0, 0, 0, 0, 1, 1]


def test_a_scenario_made_without_a_file_expands_too():
    data = {
        "version": 1,
        "name": "made",
        "topology": {"workers": 2, "link": {"rate": "1 Gbps"}},
        "collective": {"size": "4 B"},
        "algorithms": ["ring"],
        "sweep": {"topology.workers": [2, 3]},
    }
    assert len(expand(Scenario.model_validate(data))) == 2


@pytest.mark.parametrize(
    ("sweep", "beginning"),
    [
        ("{topology.worker: [2]}", "s.yaml:6: topology.worker: unknown key 'worker'; did you mean"),
        ("{topology.workers: 2}", "s.yaml:6: sweep.topology.workers: 2 is not a list of values"),
        ("{topology.workers: []}", "s.yaml:6: sweep.topology.workers: a list is not a list of"),
        ("{name: [a]}", "s.yaml:6: sweep.name: 'name' cannot be swept"),
        ("{3: [a]}", "s.yaml:6: sweep.3: 3 cannot be swept"),
        ("[2]", "s.yaml:6: sweep: a list is not a mapping of dotted keys"),
        ("{zip: [2]}", "s.yaml:6: sweep.zip: zip takes a mapping"),
        (
            "{zip: {seed: [1], switch.slots: [1, 2]}}",
            "s.yaml:6: sweep.zip: the lists under zip differ in length: seed has 1, switch.slots",
        ),
        ("{seed: [1], zip: {seed: [1]}}", "s.yaml:6: sweep.zip: a key is swept both here and"),
        (
            "{switch.slots: [64, 0]}",
            "s.yaml:6: switch.slots: 0 is not a whole number from 1 to 16384 (at the point "
            "switch.slots=0 of the sweep)",
        ),
        (
            "{topology..workers: [1]}",
            "s.yaml:6: sweep.topology..workers: 'topology..workers' canno",
        ),
        ("{name.x: [1]}", "s.yaml:6: sweep.name.x: 'name.x' cannot be swept"),
        ("{seed.x: [1]}", "s.yaml:6: sweep.seed.x: there is no key 'x' in 5"),
        ("{workers.9.start: [1 us]}", "s.yaml:6: workers.9: there is no worker 9"),
    ],
)
def test_a_bad_sweep_is_refused_with_line_and_key(sweep, beginning):
    message = refusal(BASE + f"sweep: {sweep}\nseed: 5\n")
    assert message.startswith(beginning)


def test_too_many_points_are_refused():
    values = list(range(1, 102))
    text = BASE + f"sweep: {{seed: {values}, switch.slots: {values}}}"
    assert refusal(text).startswith("s.yaml:6: sweep: 10201 points are too many; at most 10000")


@pytest.mark.parametrize(
    ("override", "read", "value"),
    [
        ("topology.workers=16", lambda s: s.topology.workers, 16),
        ("topology.link.rate=25 Gbps", lambda s: s.topology.link.rate, 25 * 10**9),
        ("topology.link.loss=1e-4", lambda s: s.topology.link.loss, 1e-4),
        ("topology.link={rate: 1 Gbps}", lambda s: s.topology.link.loss, 0.0),
        ("switch.guard=off", lambda s: s.switch.guard, False),
        ("seed=7", lambda s: s.seed, 7),
        ("algorithms=[ring]", lambda s: s.algorithms, ("ring",)),
        ("algorithms=ring", lambda s: s.algorithms, ("ring",)),
        ("workers.3.link.rate=1 Gbps", lambda s: s.workers[3].link.rate, 10**9),
        ("sweep.switch.slots=[1, 2]", lambda s: s.sweep.size, 2),
    ],
)
def test_set_overrides_any_key(override, read, value):
    assert read(parse_scenario(BASE, "s.yaml", [override])) == value


def test_the_last_of_two_overrides_wins():
    assert parse_scenario(BASE, "s.yaml", ["seed=2", "seed=3"]).seed == 3


def test_an_override_of_a_swept_key_ends_the_sweep_over_it():
    assert parameters(SWEPT, "topology.workers=16") == [{"switch.slots": 64}, {"switch.slots": 128}]
    assert parameters(SWEPT, "topology.workers=16", "switch.slots=8") == [{}]
    zipped = BASE + "sweep: {zip: {topology.workers: [2, 4], switch.slots: [64, 128]}}"
    assert parameters(zipped, "topology.workers=16")[0] == {"switch.slots": 64}
    assert parameters(zipped, "topology.workers=16", "switch.slots=8") == [{}]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("topology.workers", "--set topology.workers: write key=value, for example"),
        ("topology.workers=x", "--set topology.workers: 'x' is not a whole number from 1 to 4096"),
        ("topology.worker=2", "--set topology.worker: unknown key 'worker'; did you mean 'worke"),
        ("topology.workers.x=2", "--set topology.workers.x: there is no key 'x' in 4"),
        ("topology.link={rate: 5}", "--set topology.link: topology.link.rate: 5 has no unit"),
        ("=2", "--set : '' is not a dotted key such as"),
        ("topology..workers=2", "--set topology..workers: 'topology..workers' is not a dotted key"),
        ("faults.0.drop.from=2", "--set faults.0.drop.from: there is no item 0 in this list of 0"),
        ("seed=[1", "--set seed: not valid YAML"),
        ("seed=&a 1", "--set seed: anchor &a"),
        ("workers.7.start=1 us", "--set workers.7.start: workers.7: there is no worker 7"),
        ("sweep.seed=[a]", "--set sweep.seed: seed: 'a' is not a whole number"),
    ],
)
def test_a_bad_override_names_its_option(override, message):
    assert refusal(BASE + "faults: []\n", override).startswith(message)
