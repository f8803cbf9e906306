"""Match-action tables at run time: entries that a control plane fills in, and lookups.

The generated program holds the tables themselves and calls `lookup`, or the dictionary of an
exact table; so entries may change between packets.
"""

from collections.abc import Iterator, Mapping, Sequence

from innet.emulator.bmv2_json.program import Action, Entry, Key, Table
from innet.errors import ConfigurationError

Match = int | tuple[int, int]
KeyValues = tuple[int, ...]


class Row:
    """What the program finds in a table: an action, its data and the entry's own counter."""

    __slots__ = ("action", "bytes", "data", "entry", "packets")

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.action = entry.action
        self.data = entry.data
        self.packets = 0
        self.bytes = 0


class RuntimeTable:
    """A table's entries. Keys, actions and parameters have the names of the P4 program.

    A match is a mapping from key name to an integer (exact), (value, prefix length) of lpm,
    (value, mask) of ternary or (low, high) of range. Keys that match anything may be left out.
    Data is a mapping from parameter name to an integer. ConfigurationError for anything that
    does not fit, and for changes of what the program fixes.
    """

    def __init__(self, table: Table, actions: Mapping[int, Action]) -> None:
        self.table = table
        self.name = table.name
        self._actions = {actions[number].name: number for number in table.actions}
        self._parameters = {number: actions[number].parameters for number in table.actions}
        self.default = [Row(table.default)]
        self.rows: dict[tuple[Match, ...], Row] = {}
        self._exact = all(key.kind == "exact" for key in table.keys)
        self.exact_rows: dict[int | KeyValues, Row] = {}
        self._ordered: list[tuple[tuple[tuple[int, int, int], ...], Row]] | None = None
        self.clear()

    def insert(
        self, match: Mapping[str, Match], action: str, data: Mapping[str, int], priority: int = 0
    ) -> None:
        """Add an entry. ConfigurationError if there is one with this match, or no room."""
        entry = self._entry(match, action, data, priority)
        if self._identity(entry) in self.rows:
            raise self._error("has an entry with this match already")
        if len(self.rows) >= self.table.size:
            raise self._error(f"is full: it holds {self.table.size} entries")
        self._put(entry)

    def modify(
        self, match: Mapping[str, Match], action: str, data: Mapping[str, int], priority: int = 0
    ) -> None:
        """Change the action and data of an entry; its counter goes on."""
        entry = self._entry(match, action, data, priority)
        old = self.rows.get(self._identity(entry))
        if old is None:
            raise self._error("has no entry with this match")
        old.entry, old.action, old.data = entry, entry.action, entry.data

    def delete(self, match: Mapping[str, Match], priority: int = 0) -> None:
        """Remove an entry."""
        self._require_mutable()
        identity = self._match(match), priority if self._has_priority() else 0
        row = self.rows.pop(_flat(*identity), None)
        if row is None:
            raise self._error("has no entry with this match")
        if self._exact:
            del self.exact_rows[self._exact_key(row)]
        self._ordered = None

    def clear(self) -> None:
        """Be as the program says: no entries but those that it fixes, and its default action."""
        self.rows.clear()
        self.exact_rows.clear()
        self._ordered = None
        for entry in self.table.entries or ():
            self._put(entry)
        self.default[0] = Row(self.table.default)

    def set_default(self, action: str, data: Mapping[str, int]) -> None:
        """Change what happens to packets that match no entry."""
        if self.table.default_fixed:
            raise self._error("has a default action that the program fixes")
        number = self._action(action)
        self.default[0] = Row(Entry((), number, self._data(number, data), 0))

    def default_action(self) -> tuple[str, dict[str, int]]:
        """What happens to packets that match no entry: (action, data)."""
        entry = self.default[0].entry
        names = {number: name for name, number in self._actions.items()}
        return names[entry.action], {name: value for (name, _), value in self._named(entry)}

    def entries(self) -> Iterator[tuple[dict[str, Match], str, dict[str, int], int]]:
        """All entries as (match, action, data, priority), as `insert` takes them."""
        names = {number: name for name, number in self._actions.items()}
        for row in self.rows.values():
            entry = row.entry
            keys = (key.name for key in self.table.keys)
            data = {name: value for (name, _), value in self._named(entry)}
            match = dict(zip(keys, entry.match, strict=True))
            yield match, names[entry.action], data, entry.priority

    def counts(self, match: Mapping[str, Match], priority: int = 0) -> tuple[int, int]:
        """Packets and bytes that hit an entry. ConfigurationError without direct counter."""
        if not self.table.counted:
            raise self._error("has no direct counter")
        row = self.rows.get(_flat(self._match(match), priority if self._has_priority() else 0))
        if row is None:
            raise self._error("has no entry with this match")
        return row.packets, row.bytes

    def lookup(self, values: KeyValues) -> Row | None:
        """The row for the keys' values, None if there is none."""
        if self._ordered is None:
            ordered = sorted(self.rows.values(), key=self._rank)
            self._ordered = [(self._conditions(row.entry), row) for row in ordered]
        for conditions, row in self._ordered:
            for value, (mask, low, high) in zip(values, conditions, strict=True):
                if not low <= value & mask <= high:
                    break
            else:
                return row
        return None

    @property
    def is_exact(self) -> bool:
        """Whether `exact_rows` finds the rows, by the value of the only key or a tuple."""
        return self._exact

    def _named(self, entry: Entry) -> Iterator[tuple[tuple[str, int], int]]:
        return zip(self._parameters[entry.action], entry.data, strict=True)

    def _entry(
        self, match: Mapping[str, Match], action: str, data: Mapping[str, int], priority: int
    ) -> Entry:
        self._require_mutable()
        number = self._action(action)
        return Entry(self._match(match), number, self._data(number, data), priority)

    def _identity(self, entry: Entry) -> tuple[Match, ...]:
        return _flat(entry.match, entry.priority if self._has_priority() else 0)

    def _has_priority(self) -> bool:
        return any(key.kind in ("ternary", "range") for key in self.table.keys)

    def _put(self, entry: Entry) -> None:
        row = self.rows[self._identity(entry)] = Row(entry)
        if self._exact:
            self.exact_rows[self._exact_key(row)] = row
        self._ordered = None

    def _exact_key(self, row: Row) -> int | KeyValues:
        values = tuple(each for each in row.entry.match if isinstance(each, int))
        return values[0] if len(values) == 1 else values

    def _rank(self, row: Row) -> int:
        """Rows that are looked at earlier rank lower: higher priority, or longer prefix."""
        if self._has_priority():
            return -row.entry.priority
        lengths = [
            each[1]
            for key, each in zip(self.table.keys, row.entry.match, strict=True)
            if key.kind == "lpm" and isinstance(each, tuple)
        ]
        return -lengths[0]

    def _conditions(self, entry: Entry) -> tuple[tuple[int, int, int], ...]:
        """Of each key: (mask, low, high)."""
        return tuple(
            _condition(key, match) for key, match in zip(self.table.keys, entry.match, strict=True)
        )

    def _match(self, match: Mapping[str, Match]) -> tuple[Match, ...]:
        unknown = set(match) - {key.name for key in self.table.keys}
        if unknown:
            raise self._error(f"has no key {sorted(unknown)[0]!r}")
        return tuple(self._key_match(key, match.get(key.name)) for key in self.table.keys)

    def _key_match(self, key: Key, given: Match | None) -> Match:
        full = (1 << key.width) - 1
        if given is None and key.kind != "exact":
            return (0, full) if key.kind == "range" else (0, 0)
        if key.kind == "exact":
            if isinstance(given, int) and 0 <= given <= full:
                return given
        elif isinstance(given, tuple):
            value, second = given
            limit = key.width if key.kind == "lpm" else full
            if 0 <= value <= full and 0 <= second <= limit:
                return given
        raise self._error(
            f"cannot match key {key.name!r} ({key.kind}, {key.width} bits) on {given}"
        )

    def _action(self, name: str) -> int:
        if name not in self._actions:
            short = [each for each in self._actions if each.rsplit(".", 1)[-1] == name]
            if len(short) != 1:
                raise self._error(f"has no action {name!r}")
            name = short[0]
        return self._actions[name]

    def _data(self, number: int, data: Mapping[str, int]) -> tuple[int, ...]:
        parameters: Sequence[tuple[str, int]] = self._parameters[number]
        if set(data) != {name for name, _ in parameters}:
            raise self._error(f"needs the parameters {[name for name, _ in parameters]}")
        for name, width in parameters:
            if not 0 <= data[name] < 1 << width:
                raise self._error(f"cannot give {data[name]} to {name!r}, which has {width} bits")
        return tuple(data[name] for name, _ in parameters)

    def _require_mutable(self) -> None:
        if self.table.entries is not None:
            raise self._error("has entries that the program fixes")

    def _error(self, what: str) -> ConfigurationError:
        return ConfigurationError(f"table {self.name!r} {what}")


def _flat(match: tuple[Match, ...], priority: int) -> tuple[Match, ...]:
    return (*match, priority)


def _condition(key: Key, match: Match) -> tuple[int, int, int]:
    full = (1 << key.width) - 1
    if isinstance(match, int):
        return full, match, match
    value, second = match
    if key.kind == "range":
        return full, value, second
    mask = full & ~(full >> second) if key.kind == "lpm" else second
    return mask, value & mask, value & mask
