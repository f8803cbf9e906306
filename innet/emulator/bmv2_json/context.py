"""What the parts of the source generator share: names of variables, and what uses them."""

import re
from collections.abc import Mapping

from innet.emulator.bmv2_json.expressions import Code, ExpressionSource, fit
from innet.emulator.bmv2_json.flow import Writer
from innet.emulator.bmv2_json.lanes import Vector
from innet.emulator.bmv2_json.program import Header, Program
from innet.emulator.bmv2_json.terms import Expression, Field

STANDARD = "standard_metadata"
DROP_PORT = 511


class Context:
    """A program while its source is written.

    Fields, validity bits and stack counters are local variables of the generated function.
    `used` collects the variables that need a first value, `written` those that were assigned
    since it was last cleared. `writer` takes the lines.
    """

    def __init__(self, program: Program, vectors: Mapping[str, Vector]) -> None:
        self.program = program
        self.vectors = vectors
        self.writer = Writer()
        self.used: dict[str, None] = {}
        self.written: set[str] = set()
        self.features: set[str] = set()
        self._names: dict[object, str] = {}
        self._taken: set[str] = set()
        counts = {name: self._name(("count", name), f"{name}__count") for name in program.stacks}
        for name in counts.values():
            self.used[name] = None
        self.stack_counts: Mapping[str, str] = counts
        self.expressions = ExpressionSource(
            program.headers, self.variable, self.valid, self.stack_counts
        )

    def _name(self, thing: object, wish: str) -> str:
        if thing not in self._names:
            name = base = re.sub(r"\W", "_", wish)
            number = 2
            while name in self._taken:
                name = f"{base}_{number}"
                number += 1
            self._taken.add(name)
            self._names[thing] = name
        return self._names[thing]

    def variable(self, field: Field) -> str:
        """The variable of a field."""
        name = self._name(field, f"{field.header}__{field.name}")
        self.used[name] = None
        return name

    def valid(self, header: str) -> str:
        """The variable of a header's validity; metadata is always valid."""
        if self.program.headers[header].metadata:
            return "1"
        name = self._name(("valid", header), f"{header}__valid")
        self.used[name] = None
        return name

    def vector(self, header: str) -> str:
        """The variable that holds the values of a header whose fields are lanes."""
        return self._name(("vector", header), f"{header}__lanes")

    def variables_of(self, header: Header) -> list[str]:
        """All variables that a header's bytes depend on, but its validity."""
        if header.name in self.vectors:
            return [self.vector(header.name)]
        return [self.variable(field) for field in header.fields]

    def thing(self, kind: str, name: str) -> str:
        """The global name of a table, register array or counter array."""
        return self._name((kind, name), f"{kind}__{name}")

    def standard(self, name: str) -> Field | None:
        """A field of the standard metadata by the name that BMv2 knows it by, if declared."""
        if name in self.program.aliases:
            return self.program.aliases[name]
        header = self.program.headers.get(STANDARD)
        short = name.rsplit(".", 1)[-1]
        fields = () if header is None else header.fields
        return next((field for field in fields if field.name == short), None)

    def code(self, expression: Expression) -> Code:
        """Source of an expression."""
        return self.expressions.value(expression)

    def assign(self, field: Field, code: Code) -> None:
        """Write an assignment that wraps the value to the field's width."""
        self.set(self.variable(field), fit(code, field.width, field.signed))

    def set(self, variable: str, text: str) -> None:
        """Write an assignment to a variable."""
        self.written.add(variable)
        self.writer(f"{variable} = {text}")

    def set_standard(self, name: str, text: str) -> None:
        """Write an assignment to a standard metadata field if the program reads it at all."""
        field = self.standard(name)
        if field is not None and self.is_used(field):
            self.set(self.variable(field), text)

    def is_used(self, field: Field) -> bool:
        """Whether any source so far mentions a field."""
        return self._names.get(field) in self.used
