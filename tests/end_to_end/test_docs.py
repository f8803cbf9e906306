"""The documentation names every key, column and file that there is, and nothing else."""

import json
import re
from dataclasses import asdict, fields
from pathlib import Path

import pytest

from innet.metrics.figures import JSON_KEYS, RunSummary
from innet.metrics.rows import link_rows, worker_rows
from innet.metrics.step_gain import Gain
from innet.metrics.step_rows import operation_rows, rank_rows, step_link_rows
from innet.metrics.step_summary import summarise_step
from innet.report.step_results import StepPoint, StepResults
from innet.report.step_table import step_table_lines
from innet.report.table import table_lines
from innet.scenario.build import build_plan
from innet.scenario.create import schema_text
from innet.scenario.faults import Fault
from innet.scenario.load import parse_scenario
from innet.topology.star import Cable, build_star
from innet.trace.records import LinkRecord, RankRecord, Trace
from innet.trace.spans_file import StoredSpan
from innet.trace.steps import Decision, StepTrace

ROOT = Path(__file__).parents[2]
SCENARIO = (ROOT / "docs" / "scenario.md").read_text()
RESULTS = (ROOT / "docs" / "results.md").read_text()


def section(text, title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.S | re.M).group(1)


def rows(text):
    """The rows of all tables of a text, without heads, as cells without quotes."""
    lines = [line.strip("| ") for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.split(" | ")] for line in lines]
    heads = {place - 1 for place, row in enumerate(cells) if set(row[0]) <= set("-|")}
    return [
        row for place, row in enumerate(cells) if place not in heads and not set(row[0]) <= {*"-|"}
    ]


def names(text):
    """What the first cells of a text's tables have in backquotes."""
    return [name for row in rows(text) for name in re.findall(r"`([^`]+)`", row[0])]


SCHEMA = json.loads(schema_text())


def resolved(node):
    if "oneOf" in node and "properties" not in node:
        return resolved(node["oneOf"][0])
    return SCHEMA["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node


def keys_of(node, prefix=""):
    node = resolved(node)
    for key, inner in node["properties"].items():
        section = (inner.get("anyOf") or [inner])[0]
        if "$ref" in section or "oneOf" in section:
            yield from keys_of(section, f"{prefix}{key}.")
            continue
        yield prefix + key, inner.get("default")
        each = inner.get("additionalProperties")
        if isinstance(each, dict) and "$ref" in each:
            yield from keys_of(each, f"{prefix}{key}.N.")


def test_every_key_of_a_scenario_is_explained_with_its_default():
    told = {row[0].strip("`"): row[-1] for row in rows(section(SCENARIO, "Keys"))}
    known = dict(keys_of(SCHEMA))
    assert set(told) == set(known)
    for key, default in known.items():
        if default is None:
            assert told[key] in ("required", "as all", "-", "null"), key
        else:
            written = "on" if default is True else f"{default}".removesuffix(".0")
            assert told[key] == written, key
    required = {key for key, default in told.items() if default == "required"}
    top = {key for key in required if "." not in key}
    assert top == set(SCHEMA["required"]) - {"topology"}


def test_every_key_of_every_network_is_explained_with_its_default():
    told = rows(section(SCENARIO, "Networks"))
    keys = [re.findall(r"`([^`]+)`", row[0]) for row in told]
    explained = [(key, row[-1]) for names, row in zip(keys, told, strict=True) for key in names]
    known = []
    for name in ("LeafSpineSection", "FatTreeSection", "GraphSection", "CableSection"):
        model = SCHEMA["$defs"][name]
        for key, inner in model["properties"].items():
            default = "required" if key in model["required"] else inner.get("default", "-")
            if key.endswith("_link") and key != "fast_link":
                default = "{}"
            known.append((key, str(default)))
    assert set(explained) == {pair for pair in known if pair[0] != "kind"}


def test_every_fault_is_explained_with_its_keys():
    explained = names(section(SCENARIO, "Faults"))
    verbs = list(Fault.model_fields)
    assert [name for name in explained if name in verbs] == verbs
    packet_keys = set(SCHEMA["$defs"]["Drop"]["properties"])
    assert set(explained) == {*verbs, *packet_keys}


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", SCENARIO, re.S))
def test_the_examples_are_scenarios(text):
    base = re.search(r"```yaml\n(.*?)```", SCENARIO, re.S).group(1)
    parse_scenario(text if "version" in text else base + text)


def test_every_key_of_the_json_object_is_explained():
    explained = names(section(RESULTS, "JSON"))
    more = [field.name for field in fields(RunSummary) if field.name not in JSON_KEYS]
    assert explained == [*JSON_KEYS, *more]


def zeros(kind, **values):
    return kind(**{**{field.name: 0 for field in fields(kind)}, **values})


def test_every_column_of_the_csv_files_is_explained():
    scenario = parse_scenario(re.search(r"```yaml\n(.*?)```", SCENARIO, re.S).group(1))
    plan = build_plan(scenario, "in_network", False, 1)
    trace = Trace("made", (zeros(RankRecord),), (zeros(LinkRecord),), (), 0, None)
    for title, found in (("workers.csv", worker_rows), ("links.csv", link_rows)):
        assert names(section(RESULTS, title)) == list(found(plan, trace)[0])


def test_every_column_of_the_table_is_explained(results_of_a_run):
    heads = table_lines(*results_of_a_run)[1:3]
    found = " ".join(head.plain for head in heads).replace("limited by", "limited_by").split()
    told = " ".join(row[0] for row in rows(section(RESULTS, "Table"))[:13])
    told = told.replace("limited by", "limited_by").replace(",", "").split()
    assert told == [head for head in found if head != "algorithm"]


def step_of_nothing():
    decision = Decision("all_reduce", "dp", "ring", "asked for", 0, 0)
    return StepTrace((), (0,), (decision,), (zeros(LinkRecord),), ())


STAR = build_star([Cable(1, 0)], 1, 0)


def test_every_column_of_the_files_of_a_step_is_explained():
    trace = step_of_nothing()
    assert names(section(RESULTS, "ranks.csv")) == list(rank_rows(trace, "ring")[0])
    summary = summarise_step(trace, STAR, "ring", "made")
    assert names(section(RESULTS, "operations.csv")) == list(operation_rows(summary)[0])
    of_links = [*names(section(RESULTS, "links.csv")), "link_class"]
    assert of_links == list(step_link_rows(trace, STAR, "ring")[0])
    assert names(section(RESULTS, "spans.csv.gz")) == list(StoredSpan._fields)


def test_every_key_of_a_steps_json_object_is_explained():
    runs = (
        summarise_step(step_of_nothing(), STAR, name, "made") for name in ("in_network", "ring")
    )
    first, _ = (asdict(run) for run in runs)
    known = [*(f"gain.{field.name}" for field in fields(Gain)), *first]
    for part in ("operations", "link_classes"):
        known += [f"{part}.{key}" for key in first[part][0]]
    assert sorted(names(section(RESULTS, "JSON of training steps"))) == sorted(known)


def test_every_column_of_the_table_of_steps_is_explained():
    summary = summarise_step(step_of_nothing(), STAR, "ring", "made")
    lines = step_table_lines(StepResults("made", (StepPoint({}, (summary,)),)), {})
    told = [row[0] for row in rows(section(RESULTS, "Training steps"))]
    heads = [re.split(r"  +", line.plain.strip()) for line in lines if "hidden" in line.plain]
    runs, operations = (head[1:] for head in heads[:2])
    assert ", ".join(told).split(", ") == [*runs, *operations]


@pytest.fixture
def results_of_a_run():
    from innet.report.results import PointResult, Results

    run = RunSummary(
        **dict.fromkeys(JSON_KEYS[1:-1], 0),
        algorithm="ring",
        limited_by="link",
        elements=0,
        dtype="int32",
        busbw_equivalent=False,
        because="",
        help="",
        engine="reference",
    )
    return Results("made", (PointResult({}, (run,)),)), {}
