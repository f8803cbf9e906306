"""What the pipeline does not implement is refused by name when a program is loaded."""

import json

import pytest

from innet.emulator.bmv2_json.pipeline import Pipeline
from innet.emulator.control.build import find_build
from innet.errors import ConfigurationError

PROGRAM = find_build(32).json.read_text()


def action(program, name):
    return next(each for each in program["actions"] if each["name"].endswith(name))


def table(program, name):
    tables = [each for pipeline in program["pipelines"] for each in pipeline["tables"]]
    return next(each for each in tables if each["name"].endswith(name))


def primitive(op):
    def change(program):
        action(program, "forward.to_port")["primitives"][0]["op"] = op

    return change


def operator(op):
    def change(program):
        program["pipelines"][0]["conditionals"][0]["expression"]["value"]["op"] = op

    return change


def parser_operation(op):
    def change(program):
        program["parsers"][0]["parse_states"][0]["parser_ops"][0]["op"] = op

    return change


def extraction(kind):
    def change(program):
        state = program["parsers"][0]["parse_states"][0]
        state["parser_ops"][0]["parameters"][0]["type"] = kind

    return change


def in_table(name, **changes):
    return lambda program: table(program, name).update(changes)


def in_section(section, **entry):
    return lambda program: program[section].append({"name": "x", "id": 0, **entry})


def variable_field(program):
    program["header_types"][2]["fields"][0][1] = "*"


def algorithm(program):
    program["calculations"][0]["algo"] = "xxh64"


def match_type(program):
    table(program, "hosts")["key"][0]["match_type"] = "valid"


def transition(program):
    state = program["parsers"][0]["parse_states"][0]
    state["transitions"][0]["type"] = "parse_vset"


def value_type(program):
    action(program, "forward.to_port")["primitives"][0]["parameters"][1]["type"] = "register"


def deparser(program):
    program["deparsers"][0]["primitives"] = [{"op": "log_msg", "parameters": []}]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        *(
            (
                primitive(op),
                rf"action 'InnetIngress.forward.to_port' \(forward.p4:\d+\): the primitive '{op}'",
            )
            for op in (
                "execute_meter",
                "generate_digest",
                "clone_ingress_pkt_to_egress",
                "clone_egress_pkt_to_egress",
                "assign_VL",
                "assign_union",
                "modify_field",
                "never_heard_of",
            )
        ),
        (operator("valid_union"), "condition 'node_2': the operator 'valid_union'"),
        (operator("+++"), r"condition 'node_2': the operator '\+\+\+'"),
        (parser_operation("extract_VL"), "parser state 'start': the parser operation 'extract_VL'"),
        (extraction("union_stack"), "parser state 'start': extraction to a 'union_stack'"),
        (transition, "parser state 'start': a transition of type 'parse_vset'"),
        (match_type, "table 'InnetIngress.forward.hosts': a key of match type 'valid'"),
        (in_table("hosts", type="indirect"), r"a table of type 'indirect' \(action profile\)"),
        (
            in_table("hosts", type="indirect_ws"),
            r"a table of type 'indirect_ws' \(action profile\)",
        ),
        (
            in_table("hosts", direct_meters="m"),
            "table 'InnetIngress.forward.hosts': a direct meter",
        ),
        (in_table("hosts", support_timeout=True), "ageing of entries"),
        (in_section("meter_arrays"), "a meter .'x'."),
        (in_section("parse_vsets"), "a parser value set"),
        (in_section("header_union_types"), "a header union"),
        (in_section("learn_lists"), "a digest"),
        (in_section("extern_instances"), "an extern instance"),
        (lambda program: program["pipelines"][0].update(action_calls=[{}]), "action_calls"),
        (variable_field, "field ethernet.destination: a field of variable length"),
        (algorithm, "calculation 'calc': the algorithm 'xxh64'"),
        (value_type, "a value of type 'register'"),
        (deparser, "deparser: the primitive 'log_msg'"),
        (lambda program: program["parsers"].append(program["parsers"][0]), "architecture"),
        (lambda program: program["__meta__"].update(version=[3, 0]), "version 3 of BMv2's JSON"),
        (lambda program: program.pop("pipelines"), "is not BMv2 JSON .*KeyError: 'pipelines'"),
        (lambda program: program.update(headers=5), "is not BMv2 JSON .*TypeError"),
    ],
)
def test_a_program_with_something_else_is_refused(tmp_path, change, told):
    program = json.loads(PROGRAM)
    change(program)
    path = tmp_path / "program.json"
    path.write_text(json.dumps(program))
    with pytest.raises(ConfigurationError, match=f"program.json: .*{told}") as caught:
        Pipeline.load(path)
    assert caught.value.exit_code == 2


def test_what_is_no_json_is_refused(tmp_path):
    path = tmp_path / "program.json"
    with pytest.raises(ConfigurationError, match="cannot read the P4 program"):
        Pipeline.load(path)
    path.write_text("{")
    with pytest.raises(ConfigurationError, match="cannot read the P4 program"):
        Pipeline.load(path)
