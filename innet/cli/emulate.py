"""`innet emulate`: run a scenario's in-network all-reduce with real packets."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from innet.cli.interrupt import end_like_interrupt
from innet.cli.options import (
    DEFAULT_GRPC,
    DeviceId,
    Grpc,
    JsonForTable,
    Out,
    Overrides,
    Quiet,
    ScenarioFile,
    Seed,
)


class Target(StrEnum):
    """What the switch is."""

    soft = "soft"
    p4 = "p4"
    bmv2 = "bmv2"


class Net(StrEnum):
    """What joins workers and switch."""

    loopback = "loopback"
    netns = "netns"
    mininet = "mininet"


def emulate(
    scenario: ScenarioFile,
    target: Annotated[
        Target,
        typer.Option(
            help="soft: the protocol's switch; p4: the P4 program in Python; bmv2: the P4 program."
        ),
    ] = Target.p4,
    net: Annotated[
        Net | None,
        typer.Option(
            help="loopback needs no root (the default); netns (the default of bmv2) and mininet do."
        ),
    ] = None,
    as_json: JsonForTable = False,
    quiet: Quiet = False,
    seed: Seed = None,
    out: Out = Path("runs"),
    overrides: Overrides = None,
    deadline: Annotated[
        float, typer.Option(min=0.1, help="Seconds without any progress until it is given up.")
    ] = 30.0,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Write all workers' packets to capture.pcapng.")
    ] = False,
    hosts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Hosts of your own, and your BMv2 at --grpc."),
    ] = None,
    grpc: Grpc = DEFAULT_GRPC,
    device: DeviceId = 0,
) -> None:
    """Run a scenario's in-network all-reduce with real packets, and check every worker's tensor.

    Workers and switch are processes. Losses and packet faults of the scenario are made by the
    workers; what cannot be enforced is said. The results go to stdout and to OUT/NAME-emulated.
    """
    from innet.campaign.emulation import EmulationRequest, emulate_scenario
    from innet.cli.output import write_lines, write_note, write_text
    from innet.cli.progress import shown_progress
    from innet.errors import InnetError
    from innet.report.emulation import emulation_lines
    from innet.report.results import json_text

    end_like_interrupt()
    with shown_progress(quiet) as report:
        request = EmulationRequest(
            scenario,
            tuple(overrides or ()),
            seed,
            out,
            "bmv2" if hosts is not None else target.value,
            _network(target, net, hosts),
            deadline,
            pcap,
            hosts,
            grpc,
            device,
        )
        outcome = emulate_scenario(request, report)
    if as_json:
        write_text(json_text(outcome.results.as_json()))
    else:
        write_lines(emulation_lines(outcome.results))
    if not quiet:
        write_note(f"wrote {outcome.folder}")
    if outcome.failures:
        raise InnetError("\ninnet: ".join(outcome.failures))


def _network(target: Target, net: Net | None, hosts: Path | None) -> str:
    from innet.campaign.emulation import ATTACHED
    from innet.emulator.targets import default_network
    from innet.errors import ConfigurationError

    if hosts is None:
        return default_network(target.value) if net is None else net.value
    if net is not None:
        raise ConfigurationError("--hosts has a network of its own: leave out --net")
    return ATTACHED
