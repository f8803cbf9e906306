"""The manifest of a run directory: what was run, so that it can be run again.

It holds nothing of the machine or the hour: the same scenario and options give the same bytes.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from innet import __version__
from innet.campaign.campaign import Campaign
from innet.report.results import FORMAT_VERSION
from innet.scenario.schema import Scenario


def build_manifest(
    scenario: Scenario, file: Path, overrides: Sequence[str], command: str, complete: bool
) -> dict[str, Any]:
    """Return the manifest; `complete` says whether every run of the scenario is in the results."""
    return {
        "version": FORMAT_VERSION,
        "name": scenario.name,
        "innet": __version__,
        "command": command,
        "seed": scenario.seed,
        "complete": complete,
        "scenario": {
            "file": file.name,
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            "overrides": list(overrides),
            "resolved": scenario.resolved(),
        },
    }


def store(folder: Path, manifest: dict[str, Any], campaign: Campaign) -> None:
    """Write the run directory of what is finished of a campaign."""
    campaign.kind.write(folder, manifest, campaign.results, campaign.rows, campaign.spans)
