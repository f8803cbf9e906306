"""Random draws by counter: each is a hash of (seed, link, purpose, attempt).

A draw depends on nothing but its counter, so every engine draws the same losses, and a change
in one place does not shift those elsewhere. The hash is splitmix64 (Steele, Lea and Flood,
OOPSLA 2014).
"""

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15

LOSS, FAULT = 0, 1  # purposes


def mix(value: int) -> int:
    """The finaliser of splitmix64 on 64 bits."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def hashed(seed: int, *values: int) -> int:
    """Hash some whole numbers, in this order, to 64 bits."""
    key = mix(seed + _STEP & _MASK)
    for value in values:
        key = mix((key ^ value & _MASK) + _STEP & _MASK)
    return key


def stream_key(seed: int, link: int, purpose: int) -> int:
    """The start of one link's draws for one purpose."""
    return mix(mix(mix(seed + _STEP & _MASK) ^ link) ^ (purpose << 32))


def draw(key: int, attempt: int) -> int:
    """Draw number `attempt` of a stream: uniform in 0 .. 2**64 - 1."""
    return mix(key + attempt * _STEP & _MASK)


def threshold(probability: float) -> int:
    """The draws below this value are hits."""
    return int(probability * 2.0**64)
