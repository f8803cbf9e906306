"""The hash algorithms of the format, on bytes, and the source that collects their input."""

import zlib
from collections.abc import Callable, Mapping

from innet.emulator.bmv2_json.program import Calculation
from innet.emulator.bmv2_json.refuse import unsupported
from innet.emulator.bmv2_json.terms import Constant, Field


def csum16(data: bytes) -> int:
    """RFC 1071's checksum: 0xFFFF over no data or zeros."""
    number = int.from_bytes(data, "big")
    if len(data) % 2:
        number <<= 8
    total = number % 0xFFFF
    return 0xFFFF - (total or (0xFFFF if number else 0))


def _reflected(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def _crc16_table(polynomial: int) -> list[int]:
    table = []
    for value in range(256):
        remainder = value << 8
        for _ in range(8):
            remainder = (remainder << 1) ^ (polynomial if remainder & 0x8000 else 0)
        table.append(remainder & 0xFFFF)
    return table


_REFLECTED_BYTES = [_reflected(value, 8) for value in range(256)]
_ARC_TABLE = _crc16_table(0x8005)
_CCITT_TABLE = _crc16_table(0x1021)


def crc16(data: bytes) -> int:
    """CRC-16/ARC: polynomial 0x8005, reflected, start 0."""
    remainder = 0
    for byte in data:
        remainder = _ARC_TABLE[_REFLECTED_BYTES[byte] ^ remainder >> 8] ^ remainder << 8 & 0xFFFF
    return _reflected(remainder, 16)


def crc_ccitt(data: bytes) -> int:
    """CRC-16/CCITT-FALSE: polynomial 0x1021, start 0xFFFF."""
    remainder = 0xFFFF
    for byte in data:
        remainder = _CCITT_TABLE[byte ^ remainder >> 8] ^ remainder << 8 & 0xFFFF
    return remainder


def _exclusive_or(size: int) -> Callable[[bytes], int]:
    def exclusive_or(data: bytes) -> int:
        result = 0
        for start in range(0, len(data), size):
            result ^= int.from_bytes(data[start : start + size].ljust(size, b"\0"), "big")
        return result

    return exclusive_or


def identity(data: bytes) -> int:
    """The first 8 bytes as a number."""
    return int.from_bytes(data[:8], "big")


ALGORITHMS: Mapping[str, Callable[[bytes], int]] = {
    "csum16": csum16,
    "cksum16": csum16,
    "crc16": crc16,
    "crc16_custom": crc16,  # the control plane may change its polynomial; this is the default
    "crc32": zlib.crc32,
    "crc32_custom": zlib.crc32,
    "crcCCITT": crc_ccitt,
    "xor16": _exclusive_or(2),
    "xor32": _exclusive_or(4),
    "identity": identity,
}


def calculation_source(
    calculation: Calculation, variable: Callable[[Field], str], valid: Callable[[str], str]
) -> tuple[list[str], str]:
    """Lines that collect the input, and the expression of the result.

    Fields of headers that are not valid are left out; the end is filled up to whole bytes.
    """
    if calculation.algorithm not in ALGORITHMS:
        what = f"the algorithm {calculation.algorithm!r}"
        raise unsupported(what, f"calculation {calculation.name!r}")
    lines = ["number = bits = 0"]
    for header, parts in _by_header(calculation):
        text, width = "", 0
        for source, bits in parts:
            value = f"{source.value:#x}" if isinstance(source, Constant) else variable(source)
            if isinstance(source, Field) and source.signed:
                value = f"({value} & {(1 << bits) - 1:#x})"
            text = f"({text} << {bits} | {value})" if text else value
            width += bits
        indent = "" if header is None else "    "
        if header is not None:
            lines.append(f"if {valid(header)}:")
        lines.append(f"{indent}number = number << {width} | {text}")
        lines.append(f"{indent}bits += {width}")
    if calculation.algorithm in ("csum16", "cksum16") and not calculation.payload:
        return lines, "checksum(number << -bits % 16)"
    lines.append("data = (number << -bits % 8).to_bytes((bits + 7) // 8, 'big')")
    if calculation.payload:
        lines.append("data += frame[offset:]")
    return lines, f"hash_{calculation.algorithm}(data)"


def _by_header(
    calculation: Calculation,
) -> list[tuple[str | None, list[tuple[Field | Constant, int]]]]:
    """Runs of inputs that belong to one header, or to none: constants and metadata."""
    runs: list[tuple[str | None, list[tuple[Field | Constant, int]]]] = []
    for source, bits in calculation.inputs:
        header = source.header if isinstance(source, Field) else None
        if not runs or runs[-1][0] != header:
            runs.append((header, []))
        runs[-1][1].append((source, bits))
    return runs


def checksum(number: int) -> int:
    """`csum16` of a number that fills whole 16-bit words."""
    return 0xFFFF - (number % 0xFFFF or (0xFFFF if number else 0))
