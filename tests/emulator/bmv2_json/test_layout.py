"""Headers to bytes and back, against the plain concatenation of their bits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from innet.emulator.bmv2_json.layout import groups, pack_source, struct_of, unpack_source
from innet.emulator.bmv2_json.program import Header
from innet.emulator.bmv2_json.terms import Field


@st.composite
def headers(draw):
    widths = draw(st.lists(st.integers(1, 130), min_size=1, max_size=8))
    rest = -sum(widths) % 8
    widths += [rest] if rest else []
    signs = [width > 1 and draw(st.booleans()) for width in widths]
    fields = [
        Field("h", f"f{place}", width, signed)
        for place, (width, signed) in enumerate(zip(widths, signs, strict=True))
    ]
    return Header("h", tuple(fields), metadata=False)


@settings(max_examples=200, deadline=None)
@given(headers(), st.data())
def test_fields_are_the_bits_of_the_bytes_in_order(header, data):
    wire = data.draw(st.binary(min_size=header.bytes, max_size=header.bytes))
    bits = f"{int.from_bytes(wire):0{8 * len(wire)}b}"
    wanted = {}
    for field in header.fields:
        value, bits = int(bits[: field.width], 2), bits[field.width :]
        negative = field.signed and value >> (field.width - 1)
        wanted[field.name] = value - (1 << field.width) if negative else value
    layout = struct_of(header)
    names = {"unpack": layout.unpack, "wire": wire, "pack": layout.pack}
    source = "\n".join(unpack_source(header, lambda field: field.name, "unpack(wire)"))
    exec(source, names)
    assert {name: names[name] for name in wanted} == wanted
    assert eval(f"pack({pack_source(header, lambda field: field.name)})", names) == wire


def test_a_header_must_end_at_a_byte():
    with pytest.raises(ValueError, match="'h' does not end at a byte boundary"):
        groups(Header("h", (Field("h", "a", 7),), metadata=False))
