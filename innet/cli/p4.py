"""`innet p4`: compile, deploy and test the P4 program, and look at a switch that runs it."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from innet.cli.options import (
    DEFAULT_GRPC,
    AsJson,
    DeviceId,
    Grpc,
    HostsFile,
    Overrides,
    Quiet,
    ScenarioFile,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from innet.emulator.check.compare import Switch


class Target(StrEnum):
    """What packets are tried on."""

    soft = "soft"
    p4 = "p4"
    bmv2 = "bmv2"


Elements = Annotated[int, typer.Option("--elements", "-k", help="Values a packet: 32, 64 or 256.")]


def p4_compile(
    out: Annotated[Path, typer.Option(help="Folder for what the compiler makes.")] = Path(
        "p4build"
    ),
) -> None:
    """Compile the P4 program with p4c for 32, 64 and 256 values a packet.

    Nobody needs this to run innet: the compiled program comes with it. It says whether the
    result is the same.
    """
    from innet.cli.output import write_text
    from innet.emulator.compiler import compile_program, differing
    from innet.emulator.control.build import build_folder

    for path in compile_program(out):
        write_text(f"{path}\n")
    changed = differing(build_folder(), out)
    told = f"different from innet's: {', '.join(changed)}" if changed else "the same as innet's"
    write_text(f"{told}\n")


def p4_deploy(
    scenario: ScenarioFile,
    grpc: Grpc = DEFAULT_GRPC,
    device: DeviceId = 0,
    hosts: HostsFile = None,
    job: Annotated[int, typer.Option(help="The job's number, 0 to 255.")] = 1,
    first_slot: Annotated[
        int, typer.Option(help="The job's first slot, so that jobs can stand beside each other.")
    ] = 0,
    remove: Annotated[bool, typer.Option("--remove", help="Take the job away instead.")] = False,
    overrides: Overrides = None,
) -> None:
    """Put the P4 program, and a job for a scenario's workers, on a running BMv2.

    A switch that has the program keeps it with all its jobs. Doing it twice changes nothing.
    """
    from innet.campaign.deployment import deploy_scenario
    from innet.cli.output import write_text
    from innet.emulator.deploy_text import job_text

    place = (grpc, device)
    told = deploy_scenario(scenario, overrides or (), place, hosts, job, first_slot, remove)
    write_text(f"job {job} is not on the switch\n" if remove else job_text(told))


def p4_test(
    target: Annotated[
        Target, typer.Option(help="bmv2: one that is started for it, or the one at --grpc.")
    ] = Target.p4,
    elements: Elements = 32,
    packets: Annotated[int, typer.Option(min=1, help="How many random packets.")] = 5000,
    seed: Annotated[int, typer.Option(help="Which random packets.")] = 1,
    grpc: Annotated[
        str | None,
        typer.Option("--grpc", metavar="ADDRESS", help="A running BMv2; it is set up anew."),
    ] = None,
    device: DeviceId = 0,
    interfaces: Annotated[
        list[str] | None,
        typer.Option(
            "--interface",
            metavar="NAME",
            help="With --grpc, five times: the far ends of the switch's ports 1 to 5.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Try random packets on a switch and compare every byte that it sends, and its counters.

    soft, p4 and bmv2 are compared with the protocol's own switch; soft itself with p4.
    """
    from innet.campaign.campaign import Progress
    from innet.cli.output import write_text
    from innet.cli.progress import shown_progress
    from innet.emulator.check.compare import compare
    from innet.emulator.check.targets import python_switch

    other = "p4" if target is Target.soft else "soft"
    opened = _opened(target, elements, grpc, device, interfaces or [])
    with (
        shown_progress(quiet) as report,
        python_switch(other, elements) as reference,
        opened as switch,
    ):

        def progress(share: float) -> None:
            report(Progress(share, "random packets"))

        agreement = compare(switch, reference, elements, packets, seed, progress)
    write_text(
        f"{agreement.packets} packets of {elements} values: {target.value} and {other} send the "
        "same bytes and count the same\n"
    )
    for name, count in agreement.counters.items():
        write_text(f"  {name:<22}{count:>8}\n")


def p4_status(grpc: Grpc = DEFAULT_GRPC, device: DeviceId = 0, as_json: AsJson = False) -> None:
    """Show the jobs of a running BMv2 and what it has counted."""
    from innet.cli.output import write_text
    from innet.emulator.deploy import read_status
    from innet.emulator.deploy_text import status_json, status_text

    found = read_status(grpc, device)
    write_text((status_json if as_json else status_text)(found))


def _opened(
    target: Target, elements: int, grpc: str | None, device: int, interfaces: list[str]
) -> "AbstractContextManager[Switch]":
    from innet.emulator.check.targets import own_bmv2, python_switch, running_bmv2
    from innet.errors import ConfigurationError

    if target is not Target.bmv2:
        if grpc is not None or interfaces:
            raise ConfigurationError("--grpc and --interface are for --target bmv2")
        return python_switch(target.value, elements)
    if grpc is None:
        if interfaces:
            raise ConfigurationError("--interface needs --grpc, the address of your switch")
        return own_bmv2(elements)
    return running_bmv2(elements, grpc, device, interfaces)
