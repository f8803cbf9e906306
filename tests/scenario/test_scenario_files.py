"""Good scenario files become frozen scenarios; bad ones one clear error for each problem."""

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from innet.errors import ConfigurationError
from innet.scenario.load import load_scenario, parse_scenario

BASE = """\
version: 1
name: base
topology: {workers: 4, link: {rate: 10 Gbps}}
collective: {size: 1 MiB}
algorithms: [in_network, ring, parameter_server]
"""

FULL = """\
version: 1
name: quickstart
seed: 1
topology: {kind: star, workers: 8, link: {rate: 100 Gbps, delay: 1 us, loss: 0, queue: 1 MiB}}
switch: {latency: 400 ns, slots: 512, guard: on}
packet: {elements: 256, overhead: 76 B}
host: {send: 0 ns, receive: 0 ns, cores: 1, rto: adaptive}
message: {payload: 1460 B, overhead: 78 B, window: 64, recovery: selective_repeat}
collective: {op: all_reduce, size: 25 MiB, dtype: float32, check: auto}
algorithms: [in_network, ring, double_tree, binomial_tree, halving_doubling,
  recursive_doubling, parameter_server, sharded_parameter_server]
workers:
  3: {start: 50 us, link: {rate: 1 Gbps}}
faults:
  - {drop: {from: 2, to: switch, packet: first}}
sweep: {topology.workers: [2, 4, 8, 16], topology.link.loss: [0, 1e-4, 1e-3]}
"""


def refusal(text: str, *overrides: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        parse_scenario(text, "s.yaml", overrides)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_every_key_of_a_full_scenario_is_read():
    scenario = parse_scenario(FULL)
    link = scenario.topology.link
    assert (link.rate, link.delay, link.loss, link.queue) == (10**11, 10**6, 0.0, 2**20)
    assert (scenario.switch.latency, scenario.switch.slots) == (400_000, 512)
    assert scenario.switch.guard is True
    assert (scenario.packet.elements, scenario.packet.overhead) == (256, 76)
    assert (scenario.host.cores, scenario.host.rto) == (1, "adaptive")
    message = scenario.message
    assert (message.payload, message.overhead, message.window) == (1460, 78, 64)
    assert scenario.collective.elements == 6_553_600
    assert len(scenario.algorithms) == 8
    assert scenario.workers[3].start == 50 * 10**6
    assert scenario.workers[3].link.rate == 10**9
    assert scenario.faults[0].verb == "drop"
    assert scenario.sweep is not None
    assert scenario.sweep.size == 12


def test_optional_keys_have_the_documented_defaults():
    scenario = parse_scenario(BASE)
    assert scenario.seed == 1
    assert scenario.limit == 3600 * 10**12
    assert (scenario.topology.link.delay, scenario.topology.link.queue) == (10**6, None)
    assert scenario.packet.overhead == 76
    assert scenario.message.ack == 0
    assert scenario.message.recovery == "selective_repeat"
    assert (scenario.collective.dtype, scenario.collective.check) == ("float32", "auto")
    assert scenario.sweep is None


def test_a_scenario_is_frozen():
    scenario = parse_scenario(BASE)
    with pytest.raises(ValidationError):
        scenario.seed = 2
    with pytest.raises(ValidationError):
        scenario.topology.link.rate = 1


@pytest.mark.parametrize("text", [BASE, FULL])
def test_the_resolved_form_reads_back_as_the_same_scenario(text):
    scenario = parse_scenario(text)
    written = yaml.safe_dump(scenario.resolved(), sort_keys=False)
    assert parse_scenario(written).model_dump() == scenario.model_dump()


def test_the_resolved_form_keeps_an_unlimited_queue_of_one_worker():
    text = (
        BASE.replace("10 Gbps}", "10 Gbps, queue: 1 KiB}") + "workers: {1: {link: {queue: null}}}"
    )
    written = yaml.safe_dump(parse_scenario(text).resolved())
    assert parse_scenario(written).workers[1].link.model_fields_set == {"queue"}


@pytest.mark.parametrize(
    ("guard", "value"), [("on", True), ("off", False), ("true", True), ("false", False)]
)
def test_guard_is_on_or_off(guard, value):
    assert parse_scenario(BASE + f"switch: {{guard: {guard}}}").switch.guard is value


@pytest.mark.parametrize(
    ("written", "loss"), [("1e-4", 1e-4), ("1e-6", 1e-6), ("1E-3", 1e-3), (".5", 0.5), ("0", 0.0)]
)
def test_a_loss_is_the_number_it_looks_like(written, loss):
    text = BASE.replace("10 Gbps}", f"10 Gbps, loss: {written}}}")
    assert parse_scenario(text).topology.link.loss == loss


def test_a_rate_may_be_written_without_a_space():
    assert parse_scenario(BASE.replace("10 Gbps", "10Gbps")).topology.link.rate == 10**10


def test_a_single_algorithm_needs_no_list():
    text = BASE.replace("[in_network, ring, parameter_server]", "ring")
    assert parse_scenario(text).algorithms == ("ring",)


@pytest.mark.parametrize("elements", [32, 64, 128, 256])
def test_the_wire_formats_packet_sizes_are_taken(elements):
    scenario = parse_scenario(BASE + f"packet: {{elements: {elements}}}")
    assert scenario.packet.elements == elements


def test_other_packet_sizes_need_an_explicit_overhead():
    assert parse_scenario(BASE + "packet: {elements: 366, overhead: 78 B}").packet.elements == 366
    message = refusal(BASE + "packet:\n  elements: 366")
    assert message.startswith("s.yaml:7: packet.elements: 366 is not a packet size")
    assert "or give packet.overhead too" in message


# Each: the keys that are added to BASE from line 6 on, or what replaces part of it, and how the
# message begins.
BAD_VALUES = [
    ("switch: {latency: 1e-6}", "s.yaml:6: switch.latency: 1e-06 has no unit; write a number"),
    ("switch: {latency: 1 parsec}", "s.yaml:6: switch.latency: '1 parsec': unknown unit"),
    ("switch: {latency: -1 us}", "s.yaml:6: switch.latency: '-1 us' is not a duration"),
    ("switch: {latency: 12:30}", "s.yaml:6: switch.latency: '12:30' is not a duration"),
    ("switch: {latency: 0.5 ps}", "s.yaml:6: switch.latency: '0.5 ps' is not a whole number"),
    ("switch: {latency: 2 days}", "s.yaml:6: switch.latency: '2 days': unknown unit"),
    ("switch: {latency: 100000 s}", "s.yaml:6: switch.latency: '100000 s' is too large"),
    ("switch: {latency: off}", "s.yaml:6: switch.latency: 'off' is not a duration"),
    ("switch: {latency: null}", "s.yaml:6: switch.latency: null is not a duration"),
    ("switch:\n  slots: 0", "s.yaml:7: switch.slots: 0 is not a whole number from 1 to 16384"),
    ("switch:\n  slots: 16385", "s.yaml:7: switch.slots: 16385 is not a whole number from 1"),
    ("switch:\n  slots: yes", "s.yaml:7: switch.slots: 'yes' is not a whole number"),
    ("switch:\n  slots: true", "s.yaml:7: switch.slots: true is not a whole number"),
    ("switch:\n  slots: '8'", "s.yaml:7: switch.slots: '8' is not a whole number"),
    ("switch:\n  slots: 010", "s.yaml:7: switch.slots: '010' is not a whole number"),
    ("switch:\n  slots: 0x10", "s.yaml:7: switch.slots: '0x10' is not a whole number"),
    ("switch:\n  slots: 1_000", "s.yaml:7: switch.slots: '1_000' is not a whole number"),
    ("switch:\n  slots: 8.0", "s.yaml:7: switch.slots: 8.0 is not a whole number"),
    ("switch:\n  slots: [8]", "s.yaml:7: switch.slots: a list is not a whole number"),
    ("switch: {guard: yes}", "s.yaml:6: switch.guard: 'yes' is neither on nor off"),
    ("switch: {guard: 1}", "s.yaml:6: switch.guard: 1 is neither on nor off"),
    ("switch: 5", "s.yaml:6: switch: must be a mapping of keys: latency, slots, memory"),
    ("switch: {slot: 5}", "s.yaml:6: switch.slot: unknown key 'slot'; did you mean 'slots'?"),
    ("host: {cores: 17}", "s.yaml:6: host.cores: 17 is not a whole number from 1 to 16"),
    ("host: {rto: 5}", "s.yaml:6: host.rto: 5 has no unit"),
    ("host: {rto: 0 s}", "s.yaml:6: host.rto: '0 s': this duration must be above 0"),
    ("host: {rto: eager}", "s.yaml:6: host.rto: 'eager' is not a duration"),
    ("host: {cores: 8}\nswitch: {slots: 4}", "s.yaml:7: switch.slots: 4 slots cannot be split"),
    ("message: {payload: 0 B}", "s.yaml:6: message.payload: '0 B': this size must be above 0"),
    ("message: {payload: 64 Kb}", "s.yaml:6: message.payload: '64 Kb': unknown unit 'Kb'"),
    ("message: {window: 0}", "s.yaml:6: message.window: 0 is not a whole number from 1"),
    ("message: {recovery: none}", "s.yaml:6: message.recovery: 'none' is not a recovery; write"),
    ("seed: -1", "s.yaml:6: seed: -1 is not a whole number from 0"),
    ("seed: 18446744073709551616", "s.yaml:6: seed: 18446744073709551616 is not a whole number"),
    ("seed: " + "9" * 5000, "s.yaml:6: seed: '9999"),
    ("seed: .nan", "s.yaml:6: seed: nan is not a whole number"),
    ("limit: 0 s", "s.yaml:6: limit: '0 s': this duration must be above 0"),
    ("topolgy: {}", "s.yaml:6: topolgy: unknown key 'topolgy'; did you mean 'topology'?"),
    ("workers: {4: {}}", "s.yaml:6: workers.4: there is no worker 4; there are 4: 0 to 3"),
    ("workers: {-1: {}}", "s.yaml:6: workers.-1: -1 is not a whole number from 0"),
    ("workers: {first: {}}", "s.yaml:6: workers.first: 'first' is not a whole number from 0"),
    ("workers:\n  1: {}\n  1: {}", "s.yaml:8: workers.1: duplicate key, first given in line 7"),
    ("workers:\n  1: {}\n  '1': {}", "s.yaml:8: workers.1: duplicate key, first given in line 7"),
    ("workers: {1: {rank: 0}}", "s.yaml:6: workers.1.rank: unknown key 'rank'; known keys here"),
    ("workers: {1: {start: 50}}", "s.yaml:6: workers.1.start: 50 has no unit"),
    ("workers: {1: {link: {rate: 0 bps}}}", "s.yaml:6: workers.1.link.rate: '0 bps': this rate"),
    ("workers: {1: {host: {cores: 2}}}", "s.yaml:6: workers.1.host.cores: unknown key 'cores'"),
    ("workers: [1]", "s.yaml:6: workers: must be a mapping of keys"),
    ("faults: {}", "s.yaml:6: faults: must be a list"),
    ("faults:\n  - {lose: {}}", "s.yaml:7: faults.0.lose: unknown key 'lose'; "),
    ("faults:\n  - {}", "s.yaml:7: faults.0: a fault has exactly one verb, this one 0"),
    (
        "faults:\n  - {crash: {node: 1, at: 1 us}, pause: {node: 1, at: 1 us, for: 1 us}}",
        "s.yaml:7: faults.0: a fault has exactly one verb, this one 2",
    ),
    ("faults:\n  - {drop: {to: 1}}", "s.yaml:7: faults.0.drop.from: this key is missing"),
    (
        "faults:\n  - {drop: {from: 4, to: switch}}",
        "s.yaml:7: faults.0.drop.from: there is no worker 4",
    ),
    (
        "faults:\n  - {drop: {from: 1, to: 2}}",
        "s.yaml:7: faults.0.drop.to: there is no link from 1 to 2; one end must be the switch",
    ),
    (
        "faults:\n  - {drop: {from: switch, to: switch}}",
        "s.yaml:7: faults.0.drop.to: there is no link from switch to switch",
    ),
    (
        "faults:\n  - {drop: {from: nobody, to: switch}}",
        "s.yaml:7: faults.0.drop.from: 'nobody' is no place; write a worker's index or switch",
    ),
    (
        "faults:\n  - {drop: {from: 1, to: switch, packet: 0}}",
        "s.yaml:7: faults.0.drop.packet: 0 chooses no packets; write first, all, a number from 1",
    ),
    (
        "faults:\n  - {drop: {from: 1, to: switch, probability: 2}}",
        "s.yaml:7: faults.0.drop.probability: 2 is not a probability",
    ),
    (
        "faults:\n  - {drop: {from: 1, to: switch, kind: letter}}",
        "s.yaml:7: faults.0.drop.kind: 'letter' is not a kind of packet; write one of update",
    ),
    (
        "faults:\n  - {drop: {from: 1, to: switch, after: 2 us, until: 2 us}}",
        "s.yaml:7: faults.0.drop.until: until must be later than after",
    ),
    (
        "faults:\n  - {drop: {from: 1, to: switch, by: 2 us}}",
        "s.yaml:7: faults.0.drop.by: unknown key 'by'",
    ),
    (
        "faults:\n  - {delay: {from: 1, to: switch}}",
        "s.yaml:7: faults.0.delay.by: this key is missing; How much later",
    ),
    (
        "faults:\n  - {pause: {node: all, at: 1 us, for: 1 us}}",
        "s.yaml:7: faults.0.pause.node: 'all' is no place",
    ),
    (
        "faults:\n  - {pause: {node: 1, at: 1 us}}",
        "s.yaml:7: faults.0.pause.for: this key is missing",
    ),
]


@pytest.mark.parametrize(("added", "beginning"), BAD_VALUES)
def test_a_bad_value_is_refused_with_line_key_and_what_is_allowed(added, beginning):
    message = refusal(BASE + added + "\n")
    assert message.startswith(beginning)
    assert "\n" not in message


BAD_REPLACEMENTS = [
    ("version: 1", "version: 2", "s.yaml:1: version: 2 is not a whole number from 1 to 1"),
    ("version: 1\n", "", "s.yaml:1: version: this key is missing"),
    ("name: base", "name: a/b", "s.yaml:2: name: 'a/b' cannot name a run's folder"),
    ("name: base", "name: ..", "s.yaml:2: name: '..' cannot name a run's folder"),
    ("name: base", "name: 5", "s.yaml:2: name: 5 cannot name a run's folder"),
    ("name: base", f"name: {'x' * 65}", "s.yaml:2: name: 'xxxx"),
    ("workers: 4", "workers: 0", "s.yaml:3: topology.workers: 0 is not a whole number from 1"),
    ("workers: 4", "workers: 5000", "s.yaml:3: topology.workers: 5000 is not a whole number"),
    ("workers: 4", "kind: ring, workers: 4", "s.yaml:3: topology.kind: 'ring' is not a topology"),
    ("10 Gbps", "10", "s.yaml:3: topology.link.rate: 10 has no unit"),
    ("10 Gbps", "0 bps", "s.yaml:3: topology.link.rate: '0 bps': this rate must be above 0"),
    ("10 Gbps", "10 Gbps, loss: 1", "s.yaml:3: topology.link.loss: 1 loses every packet"),
    ("10 Gbps", "10 Gbps, loss: -0.1", "s.yaml:3: topology.link.loss: -0.1 is not a probability"),
    ("10 Gbps", "10 Gbps, loss: .nan", "s.yaml:3: topology.link.loss: nan is not a probability"),
    ("10 Gbps", "10 Gbps, loss: 1 %", "s.yaml:3: topology.link.loss: '1 %' is not a probability"),
    ("10 Gbps", "10 Gbps, queue: big", "s.yaml:3: topology.link.queue: 'big' is not a size"),
    (", link: {rate: 10 Gbps}", "", "s.yaml:3: topology.link: this key is missing; a mapping of"),
    ("1 MiB", "3 B", "s.yaml:4: collective.size: 3 B is not a whole number of float32 elements"),
    ("1 MiB", "-1 B", "s.yaml:4: collective.size: '-1 B' is not a size"),
    ("1 MiB", "2 TiB, tensors: a.npy", "s.yaml:4: collective: give exactly one of size and tens"),
    ("size: 1 MiB", "dtype: int32", "s.yaml:4: collective: give exactly one of size and tensors"),
    ("1 MiB", "1 MiB, dtype: int8", "s.yaml:4: collective.dtype: 'int8' is not a data type"),
    ("1 MiB", "1 MiB, check: maybe", "s.yaml:4: collective.check: 'maybe' is not a way to check"),
    ("1 MiB", "1 MiB, op: gather", "s.yaml:4: collective.op: 'gather' is not a collective; write"),
    ("size: 1 MiB", "tensors: []", "s.yaml:4: collective.tensors: a list names no files"),
    ("size: 1 MiB", "tensors: a.txt", "s.yaml:4: collective.tensors: 'a.txt' is not a tensor fi"),
    ("size: 1 MiB", "tensors: [a.npy, b.npy]", "s.yaml:4: collective.tensors: 2 files for 4 wor"),
    ("ring", "rings", "s.yaml:5: algorithms: 'rings' is not an algorithm; write some of in_net"),
    ("ring", "in_network", "s.yaml:5: algorithms: 'in_network' is listed twice"),
    ("[in_network, ring, parameter_server]", "[]", "s.yaml:5: algorithms: a list is not a list"),
    ("size: 1 MiB", "<<: {size: 1 MiB}", "s.yaml:4: collective: merge key <<: write the keys"),
    ("size: 1 MiB", "size: &s 1 MiB", "s.yaml:4: anchor &s: write the value out instead"),
    ("size: 1 MiB", "size: *s", "s.yaml:4: alias *s: write the value out instead"),
    ("size: 1 MiB", "size: !!str 1 MiB", "s.yaml:4: tag tag:yaml.org,2002:str: tags are not al"),
    ("size: 1 MiB", "size: 1 MiB, size: 2 MiB", "s.yaml:4: collective.size: duplicate key, firs"),
    ("size: 1 MiB", "true: 1", "s.yaml:4: collective: 'true' cannot be a key"),
    ("size: 1 MiB", "? [a] : 1", "s.yaml:4: collective: a key must be a name or a whole number"),
    ("{size: 1 MiB}", "{size: 1 MiB", "s.yaml:5: not valid YAML: while parsing a flow mapping"),
    ("name: base", "name: base\n---", "s.yaml:3: a second document begins; a file holds one"),
    ("name: base", "name: 'a\x07b'", "s.yaml:2: not valid YAML: the character"),
]


@pytest.mark.parametrize(("old", "new", "beginning"), BAD_REPLACEMENTS)
def test_a_bad_scenario_is_refused_at_its_line(old, new, beginning):
    assert old in BASE
    assert refusal(BASE.replace(old, new, 1)).startswith(beginning)


def test_a_server_exists_only_with_its_algorithm():
    fault = "faults:\n  - {crash: {node: server, at: 1 us}}"
    assert parse_scenario(BASE + fault).faults[0].verb == "crash"
    message = refusal(BASE.replace(", parameter_server", "") + fault)
    assert message.startswith("s.yaml:7: faults.0.crash.node: there is a server only with")


def test_the_nearest_sizes_are_named():
    message = refusal(BASE.replace("1 MiB", "1001 B"))
    assert message.endswith("the nearest are 1000 B and 1004 B")


def test_every_problem_is_told_in_the_order_of_the_file():
    text = BASE.replace("10 Gbps", "10 gbps").replace("1 MiB", "3 B") + "seed: x\nfoo: 1\n"
    lines = refusal(text).splitlines()
    assert [line.split(":")[1] for line in lines] == ["3", "4", "6", "7"]
    assert all(line.startswith("s.yaml:") for line in lines)


def test_an_alias_bomb_is_refused_at_once():
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(24)
    )
    assert refusal(bomb).startswith("s.yaml:1: anchor &a")


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("", "s.yaml:1: a scenario is a mapping of keys: version, name, seed"),
        ("# nothing\n", "s.yaml:1: a scenario is a mapping of keys"),
        ("\n\n- 1\n", "s.yaml:3: a scenario is a mapping of keys"),
        ("just text", "s.yaml:1: a scenario is a mapping of keys"),
        ("[" * 100_000, "s.yaml:1: nested deeper than 20 levels"),
        ("a: " + "x" * 2**20, "s.yaml: longer than 1048576 characters"),
        ("a: [" + "1," * 30_000 + "]", "s.yaml:1: more than 30000 values"),
        ("a: 'b", "s.yaml:1: not valid YAML: while scanning a quoted scalar"),
        ("\ta: 1", "s.yaml:1: not valid YAML: while scanning for the next token"),
    ],
)
def test_what_is_no_scenario_at_all_is_refused(text, beginning):
    assert refusal(text).startswith(beginning)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="there is no such file") as caught:
        load_scenario(tmp_path / "none.yaml")
    assert str(caught.value).startswith(f"{tmp_path / 'none.yaml'}: ")


def test_a_folder_and_a_binary_file_are_refused(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="cannot be read: Is a directory"):
        load_scenario(tmp_path)
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"name: \xff\xfe")
    with pytest.raises(ConfigurationError, match="not a text in UTF-8"):
        load_scenario(binary)


def test_tensor_files_are_relative_to_the_scenario(tmp_path: Path):
    file = tmp_path / "s.yaml"
    file.write_text(BASE.replace("size: 1 MiB", "tensors: data/all.npy"))
    scenario = load_scenario(file)
    assert scenario.tensor_files == (tmp_path / "data/all.npy",)
    assert scenario.collective.elements is None
