"""From ingress or egress to Python source: tables and conditionals."""

from collections.abc import Callable, Mapping

from innet.emulator.bmv2_json.action_source import leaves, write_action
from innet.emulator.bmv2_json.context import Context
from innet.emulator.bmv2_json.flow import Block, Go, write_graph
from innet.emulator.bmv2_json.program import Conditional, ControlFlow, Entry, Key, Table


def write_flow(context: Context, flow: ControlFlow) -> None:
    """Write a pipeline. `leaving` ends it after the action that sets it."""
    if any(leaves(action) for action in context.program.actions.values()):
        context.writer("leaving = False")
    blocks: Mapping[str, Block] = {
        name: _table(context, node) if isinstance(node, Table) else _conditional(context, node)
        for name, node in flow.nodes.items()
    }
    write_graph(context.writer, blocks, flow.start)


def _conditional(context: Context, node: Conditional) -> Block:
    def write(go: Go) -> None:
        with context.writer.block(f"if {context.code(node.condition).text}:"):
            go(node.when_true)
        with context.writer.block("else:"):
            go(node.when_false)

    return Block([node.when_true, node.when_false], write)


def _table(context: Context, table: Table) -> Block:
    if not table.keys and table.default_fixed:
        return _fixed(context, table)
    after = table.after_action
    if after is None:
        return Block([table.after_hit, table.after_miss], _by_hit(context, table))
    return Block([after[number] for number in table.actions], _by_action(context, table, after))


def _fixed(context: Context, table: Table) -> Block:
    """A table that only calls an action, as p4c makes of a call or a statement."""
    target = (
        table.after_miss if table.after_action is None else table.after_action[table.default.action]
    )

    def write(go: Go) -> None:
        _write_call(context, table.default.action, _data_text(table.default))
        go(target)

    return Block([target], write)


def _data_text(entry: Entry) -> str:
    return f"({''.join(f'{value:#x}, ' for value in entry.data)})"


def _by_hit(context: Context, table: Table) -> Callable[[Go], None]:
    def write(go: Go) -> None:
        _write_lookup(context, table)
        _write_actions(context, table, lambda _: None)
        if table.after_hit == table.after_miss:
            go(table.after_hit)
            return
        with context.writer.block("if hit:"):
            go(table.after_hit)
        with context.writer.block("else:"):
            go(table.after_miss)

    return write


def _by_action(
    context: Context, table: Table, after: Mapping[int, str | None]
) -> Callable[[Go], None]:
    def write(go: Go) -> None:
        _write_lookup(context, table)
        targets = set(after.values())
        if len(targets) == 1:
            _write_actions(context, table, lambda _: None)
            go(targets.pop())
        else:
            _write_actions(context, table, lambda number: go(after[number]))

    return write


def _write_lookup(context: Context, table: Table) -> None:
    """Write the lookup: `row` is the entry, or the default where there is none."""
    name = context.thing("table", table.name)
    keys = [_key_text(context, key) for key in table.keys]
    exact = all(key.kind == "exact" for key in table.keys)
    if not keys:
        context.writer("row = None")
    elif exact and len(keys) == 1:
        context.writer(f"row = {name}_get({keys[0]})")
    elif exact:
        context.writer(f"row = {name}_get(({', '.join(keys)}))")
    else:
        context.writer(f"row = {name}_lookup(({''.join(key + ', ' for key in keys)}))")
    context.writer("hit = row is not None")
    with context.writer.block("if not hit:"):
        context.writer(f"row = {name}_default[0]")
    if table.counted:
        with context.writer.block("else:"):
            context.writer("row.packets += 1")
            context.writer("row.bytes += size")


def _key_text(context: Context, key: Key) -> str:
    text = context.code(key.source).text
    if getattr(key.source, "signed", False) or key.mask is not None:
        mask = (1 << key.width) - 1 if key.mask is None else key.mask
        return f"({text} & {mask:#x})"
    return text


def _write_actions(context: Context, table: Table, then: Callable[[int], None]) -> None:
    """Write a branch for each action of the table, each followed by `then`."""
    context.writer("action = row.action")
    for place, number in enumerate(table.actions):
        with context.writer.block(f"{'elif' if place else 'if'} action == {number}:"):
            _write_call(context, number, "row.data")
            then(number)


def _write_call(context: Context, number: int, data: str) -> None:
    action = context.program.actions[number]
    if action.parameters:
        names = "".join(f"p{place}, " for place in range(len(action.parameters)))
        context.writer(f"{names.strip()} = {data}")
    if action.primitives:
        write_action(context, number)
    else:
        context.writer(f"pass  # {action.name}")
    if leaves(action):
        with context.writer.block("if leaving:"):
            context.writer("break")
