"""Numbers as the table and the plots write them: short, with units."""

from innet.units import PS_PER_SECOND, format_duration, format_size

_DIGITS = 5
_BITS_PER_GIGABYTE = 8 * 10**9
_SMALL = 1e-3
_DECIMAL = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "KB"))


def short_duration(duration_ps: int, digits: int = _DIGITS) -> str:
    """Write a duration with some significant digits, by default `166.36 us`; `0 s` for none."""
    if duration_ps == 0:
        return "0 s"
    number, unit = format_duration(duration_ps, digits).split()
    whole = number.partition(".")[0]
    return (
        f"{float(number):.{max(0, digits - len(whole))}f} {unit}"
        if unit != "ps"
        else f"{number} ps"
    )


def exact_size(size_bytes: int) -> str:
    """Write a tensor's size exactly, `25 MiB`, or in bytes where no unit is shorter."""
    return format_size(size_bytes)


def short_bytes(count: int) -> str:
    """Write an amount of bytes with four significant digits, powers of ten, `28.15 MB`."""
    for scale, unit in _DECIMAL:
        if count >= scale:
            return f"{count / scale:.4g} {unit}"
    return f"{count} B"


def gigabytes_per_second(rate_bps: int) -> str:
    """Write a bandwidth in GB/s as NCCL's tests do, with more digits below 1."""
    rate = rate_bps / _BITS_PER_GIGABYTE
    if rate == 0:
        return "0"
    return f"{rate:.2f}" if rate >= 1 else f"{rate:.3g}"


def over_bound(time_ps: int, bound_ps: int) -> str:
    """Write how far a time is above its lower bound, `+2.1%`; `-` without a bound."""
    if bound_ps == 0:
        return "-"
    over = 100 * (time_ps - bound_ps) / bound_ps
    return f"{over:+.1f}%" if over < 1000 else f"x{time_ps / bound_ps:.4g}"


def short_parameter(value: object) -> str:
    """Write a swept value as a scenario file would."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}" if abs(value) >= _SMALL or value == 0 else _scientific(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(short_parameter, value))}]"
    return str(value)


def _scientific(value: float) -> str:
    mantissa, exponent = f"{value:e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def elements_per_second(elements: int, time_ps: int) -> float:
    """Return aggregated tensor elements a second (ATE/s); 0 when no time passed."""
    return elements * PS_PER_SECOND / time_ps if time_ps else 0.0
