"""What `innet doctor` prints, as text and as JSON."""

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby

from innet import __version__
from innet.emulator.doctor import Combination, Finding, combinations

Offloads = Mapping[str, Sequence[str]]
"""Interface -> its offloads that are on."""


def as_json_text(findings: Sequence[Finding], offloads: Offloads) -> str:
    """One JSON object: findings, what works, and the offloads that are on."""
    told = {
        "version": 1,
        "findings": [asdict(finding) for finding in findings],
        "combinations": [
            {**asdict(each), "works": not each.missing} for each in combinations(findings)
        ],
        "offloads_on": {name: list(on) for name, on in offloads.items()},
    }
    return json.dumps(told, indent=2) + "\n"


def as_text(findings: Sequence[Finding], offloads: Offloads) -> str:
    """The findings by group, how to install what is missing, and what works here."""
    lines = [f"innet {__version__}, Python {platform.python_version()}, {platform.platform()}"]
    for group, members in groupby(findings, lambda finding: finding.group):
        lines += ["", group, *_rows(list(members))]
    lines += ["", "innet emulate", *_combination_lines(combinations(findings))]
    if offloads:
        lines += ["", "Offloads", *_offload_lines(offloads)]
    return "\n".join(lines) + "\n"


_MARKS = {True: "ok", False: "missing", None: "unknown"}


def _rows(findings: Sequence[Finding]) -> Iterable[str]:
    details = [finding.detail if finding.found else "" for finding in findings]
    width = max(10, *map(len, details)) + 2
    for finding, shown in zip(findings, details, strict=True):
        start = f"  {_MARKS[finding.found]:<9}{finding.name:<20}"
        yield f"{start}{shown:<{width}}for {finding.used_for}"
        if not finding.found:
            yield from (f"{'':11}{text}" for text in (finding.detail, finding.install) if text)


def _combination_lines(found: Iterable[Combination]) -> Iterable[str]:
    for each in found:
        answer = f"needs {', '.join(each.missing)}" if each.missing else "works"
        yield f"  --target {each.target:<5}--net {each.net:<10}{answer}"


def _offload_lines(offloads: Offloads) -> Iterable[str]:
    for interface, on in offloads.items():
        if not on:
            yield f"  {interface}: all off, as it must be before a software switch starts"
            continue
        off = " ".join(f"{name} off" for name in on)
        yield f"  {interface}: {', '.join(on)} on; before the switch starts:"
        yield f"    ethtool -K {interface} {off}"
