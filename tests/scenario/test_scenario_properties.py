"""Whatever the file, the answer is a scenario or a located error; written forms read back."""

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from innet.errors import ConfigurationError
from innet.scenario.load import expand, parse_scenario
from innet.scenario.sections import ALGORITHMS
from innet.units import format_duration, format_rate, format_size
from innet.wire.dtypes import ITEMSIZE

WHOLE = """\
version: 1
name: quickstart
topology: {kind: star, workers: 8, link: {rate: 100 Gbps, loss: 1e-3, queue: 1 MiB}}
switch: {latency: 400 ns, slots: 512, guard: on}
collective: {op: all_reduce, size: 25 MiB, dtype: float32}
algorithms: [in_network, ring]
workers:
  3: {start: 50 us, link: {rate: 1 Gbps}}
faults:
  - {drop: {from: 2, to: switch, packet: [1, 5]}}
  - {pause: {node: switch, at: 1 us, for: 2 us}}
sweep:
  topology.workers: [4, 8]
  zip: {seed: [1, 2], workers.3.start: [0 us, 1 us]}
"""
SCRAPS = ["", ":", "{", "}", "[", "]", "-", ",", "\n", "  ", "&a", "*a", "<<: ", "!!x ", "0", "-1"]
SCRAPS += [".nan", "null", "~", "true", "1e9", "'", '"', "#", "? ", "| ", "> ", "%", "@", "\t", "é"]


def problems(text: str, *overrides: str) -> list[str]:
    """Return what is wrong with a scenario, a line each; nothing where it is right."""
    try:
        expand(parse_scenario(text, "s.yaml", overrides))
    except ConfigurationError as error:
        return str(error).split("\n")
    return []


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(WHOLE)),
            st.integers(0, 12),
            st.sampled_from(SCRAPS) | st.text(max_size=4),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_a_damaged_file_is_a_scenario_or_located_errors(damages):
    text = WHOLE
    for start, length, scrap in damages:
        text = text[:start] + scrap + text[start + length :]
    assert all(line.startswith("s.yaml:") for line in problems(text))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30), st.text(max_size=20) | st.sampled_from(SCRAPS))
def test_an_odd_override_is_taken_or_refused_by_its_name(key, value):
    told = "\n".join(problems(WHOLE, f"{key}={value}"))
    # The key ends at the first equals sign, as on the command line.
    assert not told or f"--set {key.partition('=')[0]}" in told


@st.composite
def scenarios(draw):
    workers = draw(st.integers(1, 64))
    rate = st.integers(1, 10**13).map(format_rate)
    duration = st.integers(0, 10**15).map(format_duration)
    size = st.integers(0, 10**12).map(format_size)
    link = {"rate": draw(rate), "delay": draw(duration), "loss": draw(st.floats(0, 0.99))}
    changed = st.fixed_dictionaries(
        {}, optional={"start": duration, "link": st.fixed_dictionaries({"queue": size | st.none()})}
    )
    dtype = draw(st.sampled_from(list(ITEMSIZE)))
    return {
        "version": 1,
        "name": "random",
        "seed": draw(st.integers(0, 2**64 - 1)),
        "topology": {"workers": workers, "link": {**link, "queue": draw(size | st.none())}},
        "switch": {"latency": draw(duration), "slots": draw(st.integers(16, 2**14))},
        "host": {"cores": draw(st.integers(1, 16)), "rto": draw(st.just("adaptive") | duration)},
        "collective": {
            "size": format_size(ITEMSIZE[dtype] * draw(st.integers(0, 2**32))),
            "dtype": dtype,
        },
        "algorithms": draw(st.lists(st.sampled_from(ALGORITHMS), min_size=1, unique=True)),
        "workers": draw(st.dictionaries(st.integers(0, workers - 1), changed, max_size=4)),
    }


@settings(max_examples=100, deadline=None)
@given(scenarios().filter(lambda data: data["host"]["rto"] != "0 ps"))
def test_the_resolved_form_reads_back(data):
    scenario = parse_scenario(yaml.safe_dump(data))
    again = parse_scenario(yaml.safe_dump(scenario.resolved()))
    assert again.model_dump() == scenario.model_dump()
    assert again.resolved() == scenario.resolved()
