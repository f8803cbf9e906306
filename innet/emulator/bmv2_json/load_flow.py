"""From JSON to actions, tables and conditionals."""

from collections.abc import Mapping
from typing import Any

from innet.emulator.bmv2_json.load_expressions import (
    Json,
    Names,
    hexadecimal,
    load_argument,
    load_expression,
)
from innet.emulator.bmv2_json.program import (
    Action,
    Conditional,
    ControlFlow,
    Entry,
    Key,
    Node,
    Primitive,
    Table,
)
from innet.emulator.bmv2_json.refuse import unsupported
from innet.emulator.bmv2_json.terms import Valid

KEY_KINDS = ("exact", "lpm", "ternary", "range")


def load_action(json: Json, names: Names) -> Action:
    """Read an action. ConfigurationError for an argument that is not implemented."""
    where = f"action {json['name']!r}"
    parameters = tuple((each["name"], each["bitwidth"]) for each in json["runtime_data"])
    widths = tuple(width for _, width in parameters)
    primitives = [load_primitive(each, names, where, widths) for each in json["primitives"]]
    return Action(json["name"], parameters, tuple(primitives))


def load_primitive(json: Json, names: Names, where: str, widths: tuple[int, ...]) -> Primitive:
    """Read a primitive with its arguments."""
    source = json.get("source_info") or {}
    if source.get("filename") and source.get("line"):
        where = f"{where} ({source['filename']}:{source['line']})"
    arguments = [load_argument(each, names, where, widths) for each in json["parameters"]]
    return Primitive(json["op"], tuple(arguments), where)


def load_control_flow(json: Json, names: Names) -> ControlFlow:
    """Read ingress or egress."""
    for what in ("action_profiles", "action_calls"):
        if json.get(what):
            raise unsupported(what, f"pipeline {json['name']!r}")
    nodes: list[Node] = [_load_table(each, names) for each in json["tables"]]
    nodes += [_load_conditional(each, names) for each in json["conditionals"]]
    return ControlFlow(json["name"], json["init_table"], {node.name: node for node in nodes})


def _load_conditional(json: Json, names: Names) -> Conditional:
    where = f"condition {json['name']!r}"
    condition = load_expression(json["expression"], names, where)
    return Conditional(json["name"], condition, json["true_next"], json["false_next"])


def _load_table(json: Json, names: Names) -> Table:
    where = f"table {json['name']!r}"
    if json["type"] != "simple":
        raise unsupported(f"a table of type {json['type']!r} (action profile)", where)
    if json.get("direct_meters"):
        raise unsupported("a direct meter", where)
    if json.get("support_timeout"):
        raise unsupported("ageing of entries", where)
    keys = tuple(_load_key(each, names, where) for each in json["key"])
    actions = dict(zip(json["actions"], json["action_ids"], strict=True))
    default = json["default_entry"]
    after = json["next_tables"]
    asks_hit = "__HIT__" in after or "__MISS__" in after
    return Table(
        name=json["name"],
        keys=keys,
        actions=tuple(json["action_ids"]),
        size=json["max_size"],
        counted=json["with_counters"],
        default=_load_entry(default, ()),
        default_fixed=bool(default.get("action_const")),
        entries=_load_entries(json, keys),
        after_action=None if asks_hit else {actions[name]: after[name] for name in actions},
        after_hit=after.get("__HIT__", json.get("base_default_next")),
        after_miss=after.get("__MISS__", json.get("base_default_next")),
    )


def _load_key(json: Json, names: Names, where: str) -> Key:
    kind = json["match_type"]
    if kind not in KEY_KINDS:
        raise unsupported(f"a key of match type {kind!r}", where)
    source = names.field(json["target"])
    width = 1 if isinstance(source, Valid) else source.width
    mask = None if json["mask"] is None else hexadecimal(json["mask"])
    return Key(json.get("name") or ".".join(json["target"]), kind, source, width, mask)


def _load_entries(json: Json, keys: tuple[Key, ...]) -> tuple[Entry, ...] | None:
    """Entries that the program fixes; a low number is a high priority there."""
    if "entries" not in json:
        return None
    return tuple(
        _load_entry(
            each["action_entry"],
            tuple(_load_match(part) for part in each["match_key"]),
            -int(each.get("priority", 0)),
        )
        for each in json["entries"]
    )


def _load_match(json: Mapping[str, Any]) -> int | tuple[int, int]:
    match json["match_type"]:
        case "lpm":
            return hexadecimal(json["key"]), int(json["prefix_length"])
        case "ternary":
            return hexadecimal(json["key"]), hexadecimal(json["mask"])
        case "range":
            return hexadecimal(json["start"]), hexadecimal(json["end"])
    return hexadecimal(json["key"])


def _load_entry(json: Json, match: tuple[int | tuple[int, int], ...], priority: int = 0) -> Entry:
    data = tuple(hexadecimal(value) for value in json["action_data"])
    return Entry(match, json["action_id"], data, priority)
