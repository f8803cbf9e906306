"""Read BMv2 JSON: the file to a validated Program.

Everything that innet's pipeline does not implement is refused here or in `generate`, with
its name and place; nothing is skipped.
"""

import json as json_format
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from innet.emulator.bmv2_json.load_expressions import Json, Names, hexadecimal, load_expression
from innet.emulator.bmv2_json.load_flow import load_action, load_control_flow
from innet.emulator.bmv2_json.load_parser import load_state
from innet.emulator.bmv2_json.program import (
    Calculation,
    Checksum,
    CounterArray,
    Header,
    Program,
    RegisterArray,
    Stack,
)
from innet.emulator.bmv2_json.refuse import unsupported
from innet.emulator.bmv2_json.terms import Constant, Field, Valid
from innet.errors import ConfigurationError

MAJOR_VERSION = 2

_REFUSED = {
    "header_union_types": "a header union",
    "meter_arrays": "a meter",
    "parse_vsets": "a parser value set",
    "learn_lists": "a digest",
    "extern_instances": "an extern instance",
}


def load_program(path: str | Path) -> Program:
    """Read a file that p4c's BMv2 back end wrote for v1model.

    ConfigurationError names the file and what is wrong or not implemented.
    """
    try:
        json = json_format.loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"cannot read the P4 program: {error}", file=str(path)) from None
    try:
        return _load(json, str(path))
    except ConfigurationError as error:
        raise ConfigurationError(error.message, file=str(path)) from None
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        message = f"is not BMv2 JSON as p4c writes it ({type(error).__name__}: {error})"
        raise ConfigurationError(message, file=str(path)) from None


def _load(json: Json, path: str) -> Program:
    version = json["__meta__"]["version"]
    if version[0] != MAJOR_VERSION:
        raise ConfigurationError(f"has version {version[0]} of BMv2's JSON, not {MAJOR_VERSION}")
    for section, what in _REFUSED.items():
        if json.get(section):
            name = json[section][0]["name"]
            raise unsupported(f"{what} ({name!r})", section)
    headers = _load_headers(json)
    stacks = _load_stacks(json)
    names = Names(headers, stacks)
    parser = _only(json["parsers"], "parser")
    deparser = _only(json["deparsers"], "deparser")
    if deparser.get("primitives"):
        raise unsupported(f"the primitive {deparser['primitives'][0]['op']!r}", "deparser")
    flows = {each["name"]: load_control_flow(each, names) for each in json["pipelines"]}
    return Program(
        path=path,
        headers=headers,
        stacks=stacks,
        start=parser["init_state"],
        states={each["name"]: load_state(each, names) for each in parser["parse_states"]},
        ingress=flows["ingress"],
        egress=flows["egress"],
        deparser=tuple(headers[name].name for name in deparser["order"]),
        actions={each["id"]: load_action(each, names) for each in json["actions"]},
        registers={
            each["name"]: RegisterArray(each["name"], each["size"], each["bitwidth"])
            for each in json["register_arrays"]
        },
        counters={each["name"]: _load_counter(each) for each in json["counter_arrays"]},
        calculations={
            each["name"]: _load_calculation(each, names) for each in json["calculations"]
        },
        checksums=tuple(_load_checksum(each, names) for each in json["checksums"]),
        field_lists={
            each["id"]: tuple(names.plain_field(part["value"]) for part in each["elements"])
            for each in json["field_lists"]
        },
        errors=dict(json["errors"]),
        aliases={name: names.plain_field(target) for name, target in json["field_aliases"]},
    )


def _only(parts: list[Json], what: str) -> Json:
    if len(parts) != 1 or parts[0]["name"] != what:
        raise unsupported(f"a {what} of another architecture than v1model", what)
    return parts[0]


def _load_headers(json: Json) -> Mapping[str, Header]:
    types = {each["name"]: each["fields"] for each in json["header_types"]}
    headers = {}
    for each in json["headers"]:
        name = each["name"]
        fields = tuple(_load_field(name, field) for field in types[each["header_type"]])
        headers[name] = Header(name, fields, bool(each["metadata"]))
    return headers


def _load_field(header: str, json: list[Any]) -> Field:
    name, width, *flags = json
    if width == "*":
        raise unsupported("a field of variable length", f"field {header}.{name}")
    if len(flags) > 1 and flags[1]:
        raise unsupported("a saturating field", f"field {header}.{name}")
    return Field(header, name, width, bool(flags and flags[0]))


def _load_stacks(json: Json) -> Mapping[str, Stack]:
    by_id = {each["id"]: each["name"] for each in json["headers"]}
    return {
        each["name"]: Stack(each["name"], tuple(by_id[number] for number in each["header_ids"]))
        for each in json["header_stacks"]
    }


def _load_counter(json: Json) -> CounterArray:
    if json["is_direct"]:
        return CounterArray(json["name"], 0, json["binding"])
    return CounterArray(json["name"], json["size"], None)


def _load_calculation(json: Json, names: Names) -> Calculation:
    inputs: list[tuple[Field | Constant, int]] = []
    payload = False
    for part in json["input"]:
        match part["type"]:
            case "field":
                field = names.field(part["value"])
                if isinstance(field, Valid):
                    raise unsupported("a validity bit", f"calculation {json['name']!r}")
                inputs.append((field, field.width))
            case "hexstr":
                inputs.append((Constant(hexadecimal(part["value"])), part["bitwidth"]))
            case "header":
                inputs += [(field, field.width) for field in names.headers[part["value"]].fields]
            case "payload":
                payload = True
            case kind:
                raise unsupported(f"an input of type {kind!r}", f"calculation {json['name']!r}")
    return Calculation(json["name"], json["algo"], tuple(inputs), payload)


def _load_checksum(json: Json, names: Names) -> Checksum:
    where = f"checksum {json['name']!r}"
    if json["type"] != "generic":
        raise unsupported(f"a checksum of type {json['type']!r}", where)
    condition = json.get("if_cond")
    return Checksum(
        name=json["name"],
        target=names.plain_field(json["target"]),
        calculation=json["calculation"],
        verify=json.get("verify", True),
        update=json.get("update", True),
        condition=None if condition is None else load_expression(condition, names, where),
    )
