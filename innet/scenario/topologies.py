"""The section `topology` of a scenario: one model for each kind of network."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from innet.scenario.located import Problem, located_error
from innet.scenario.quantities import (
    Duration,
    Loss,
    OptionalSize,
    Parsed,
    Rate,
    is_name,
    one_of,
    shown,
    whole_number,
)
from innet.scenario.section import Section
from innet.topology.explicit import INNER, LEAF, leaf_names

MAXIMUM_WORKERS = 4096
MAXIMUM_SWITCHES = 4096
KINDS = ("star", "leaf_spine", "fat_tree", "graph")

Count = Annotated[int, whole_number(1, MAXIMUM_WORKERS)]
Few = Annotated[int, whole_number(1, 64)]


class TrunkSection(Section):
    """A cable between switches, the same in both directions; its rate may follow from others."""

    rate: Rate | None = Field(default=None, description="Bits a second on the medium.")
    delay: Duration = Field(default=10**6, description="Propagation delay of one direction.")
    loss: Loss = Field(default=0.0, description="Chance that a packet is lost, each direction.")
    queue: OptionalSize = Field(
        default=None,
        description="Drop-tail limit of a switch port in medium bytes; null is unlimited.",
    )


class LinkSection(TrunkSection):
    """A cable, the same in both directions."""

    rate: Rate = Field(description="Bits a second on the medium.")


def _parse_oversubscription(value: object) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    if known and 0.01 <= float(str(value)) <= 1000:
        return float(str(value))
    raise ValueError(
        f"{shown(value)} is no oversubscription; write a number from 0.01 to 1000, such as 3"
    )


Oversubscription = Annotated[
    float,
    Parsed(_parse_oversubscription, {"type": "number", "minimum": 0.01, "maximum": 1000}),
]


def _parse_names(value: object) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if isinstance(names, list | tuple) and names and all(is_name(name) for name in names):
        return tuple(names)
    raise ValueError(f"{shown(value)} names no nodes; write a name or a list of names")


def _parse_aggregates(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(is_name(name) for name in value):
        return tuple(value)
    if value in ("all", "leaves"):
        return (str(value),)
    raise ValueError(
        f"{shown(value)} does not say which switches can sum; write all, leaves, or a list of "
        "switches or their roles"
    )


def _write_aggregates(value: tuple[str, ...]) -> object:
    return value[0] if value in (("all",), ("leaves",)) else list(value)


_NAME_LIST = {"type": "array", "items": {"type": "string"}}
Names = Annotated[
    tuple[str, ...], Parsed(_parse_names, {"anyOf": [{"type": "string"}, _NAME_LIST]}, list)
]
Aggregates = Annotated[
    tuple[str, ...],
    Parsed(
        _parse_aggregates, {"anyOf": [{"enum": ["all", "leaves"]}, _NAME_LIST]}, _write_aggregates
    ),
]
_AGGREGATES = "Which switches can sum: all, leaves, or a list of switches or their roles."
_LATENCIES = "Latencies other than switch.latency, by switch or role."


class StarSection(Section):
    """One switch with a cable to every worker."""

    kind: Annotated[Literal["star"], one_of("a topology", "star")] = "star"
    workers: Annotated[int, whole_number(1, MAXIMUM_WORKERS)] = Field(
        description="Number of workers; hardware with a 32-bit bitmap takes up to 32 in network."
    )
    link: LinkSection


class FabricSection(Section):
    """What networks of several switches have in common."""

    latencies: dict[str, Duration] = Field(default={}, description=_LATENCIES)
    aggregates: Aggregates = Field(default=("all",), description=_AGGREGATES)

    @property
    def workers(self) -> int:
        """The number of ranks."""
        raise NotImplementedError

    @property
    def switches(self) -> dict[str, str]:
        """The role of every switch by its name."""
        raise NotImplementedError

    @property
    def aggregating(self) -> frozenset[str]:
        """The names or roles of the switches that can sum; `all` leaves out those in hosts."""
        if self.aggregates == ("all",):
            return frozenset(self.switches.values()) - {"host"}
        return frozenset({"leaf", "edge"} if self.aggregates == ("leaves",) else self.aggregates)

    def problems(self) -> Iterator[Problem]:
        """Yield what contradicts what, by key."""
        if self.workers > MAXIMUM_WORKERS:
            yield (), f"{self.workers} workers are too many; {MAXIMUM_WORKERS} at most"
            return
        if len(self.switches) > MAXIMUM_SWITCHES:
            yield (), f"{len(self.switches)} switches are too many; {MAXIMUM_SWITCHES} at most"
            return
        for name in self.latencies:
            yield from self._known(name, ("latencies", name))
        if self.aggregates not in (("all",), ("leaves",)):
            for place, name in enumerate(self.aggregates):
                yield from self._known(name, ("aggregates", place))

    def _known(self, name: str, path: tuple[str | int, ...]) -> Iterator[Problem]:
        roles = dict.fromkeys(self.switches.values())
        if name not in self.switches and name not in roles:
            told = f"there is no switch and no role {shown(name)}; the roles are"
            yield path, f"{told} {', '.join(roles)}, the switches {listed(self.switches)}"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        problems = list(self.problems())
        if problems:
            raise located_error(problems)
        return self


class HostsSection(FabricSection):
    """Networks whose hosts are all alike: `ranks` ranks and `nics` interfaces each."""

    ranks: Few = Field(
        default=1, description="Ranks a host; several share a fast switch within it."
    )
    nics: Few = Field(default=1, description="Interfaces a host, each with a cable to its leaf.")
    link: LinkSection
    fast_link: LinkSection | None = Field(
        default=None, description="From each rank of a host to the switch within it."
    )

    @property
    def hosts_in_all(self) -> int:
        """The number of hosts."""
        raise NotImplementedError

    @property
    def workers(self) -> int:
        """The number of ranks."""
        return self.hosts_in_all * self.ranks

    @property
    def _host_switches(self) -> dict[str, str]:
        count = 0 if self.fast_link is None else self.hosts_in_all
        return {f"host{host}": "host" for host in range(count)}

    def problems(self) -> Iterator[Problem]:
        """Yield what contradicts what, by key."""
        if self.ranks > 1 and self.fast_link is None:
            told = "several ranks a host need fast_link, the link from each to the switch within"
            yield ("ranks",), f"{told} the host, such as {{rate: 900 Gbps, delay: 100 ns}}"
        if self.ranks == 1 and self.fast_link is not None:
            yield ("fast_link",), "hosts of one rank have no fast link; write ranks: 2 or more"
        yield from super().problems()


class LeafSpineSection(HostsSection):
    """Racks of hosts, each with a leaf, and spines that every leaf has cables to."""

    kind: Annotated[Literal["leaf_spine"], one_of("a topology", "leaf_spine")]
    racks: Count = Field(description="Racks, each with a leaf.")
    hosts: Count = Field(description="Hosts a rack.")
    spines: Count = Field(description="Spines.")
    uplinks: Few = Field(default=1, description="Cables from each leaf to each spine.")
    oversubscription: Oversubscription | None = Field(
        default=None,
        description="Rate of a leaf's cables to hosts over that of its cables to spines; 1 where "
        "spine_link has no rate.",
    )
    spine_link: TrunkSection = TrunkSection()

    @property
    def hosts_in_all(self) -> int:
        """The number of hosts."""
        return self.racks * self.hosts

    @property
    def switches(self) -> dict[str, str]:
        """The role of every switch by its name."""
        leaves = {f"leaf{rack}": "leaf" for rack in range(self.racks)}
        return self._host_switches | leaves | {f"spine{x}": "spine" for x in range(self.spines)}

    def problems(self) -> Iterator[Problem]:
        """Yield what contradicts what, by key."""
        if self.oversubscription is not None and self.spine_link.rate is not None:
            told = "spine_link.rate gives the oversubscription already; write one of the two"
            yield ("oversubscription",), told
        yield from super().problems()


class FatTreeSection(HostsSection):
    """Pods of edge and aggregation switches below core switches: k-ary, or any counts."""

    kind: Annotated[Literal["fat_tree"], one_of("a topology", "fat_tree")]
    k: Annotated[int, whole_number(2, 64)] | None = Field(
        default=None, description="Ports a switch, even: k pods of k/2 edges of k/2 hosts."
    )
    pods: Count | None = Field(default=None, description="Pods, without k.")
    edges: Count | None = Field(default=None, description="Edge switches a pod, without k.")
    aggregations: Count | None = Field(
        default=None, description="Aggregation switches a pod, without k."
    )
    cores: Count | None = Field(
        default=None, description="Core switches, a multiple of aggregations, without k."
    )
    hosts: Count | None = Field(default=None, description="Hosts an edge switch; k/2 with k.")
    aggregation_link: TrunkSection = TrunkSection()
    core_link: TrunkSection = TrunkSection()

    @property
    def size(self) -> tuple[int, int, int, int, int]:
        """Pods, edges and aggregations a pod, cores, hosts an edge."""
        half = (self.k or 2) // 2
        given = (self.pods, self.edges, self.aggregations, self.cores, self.hosts)
        by_k = (2 * half, half, half, half * half, half)
        pods, edges, aggregations, cores, hosts = (
            number if own is None else own for own, number in zip(given, by_k, strict=True)
        )
        return pods, edges, aggregations, cores, hosts

    @property
    def hosts_in_all(self) -> int:
        """The number of hosts."""
        pods, edges, _, _, hosts = self.size
        return pods * edges * hosts

    @property
    def switches(self) -> dict[str, str]:
        """The role of every switch by its name."""
        pods, edges, aggregations, cores, _ = self.size
        found = dict(self._host_switches)
        for role, count in (("edge", edges), ("aggregation", aggregations)):
            found |= {f"{role}{pod}-{x}": role for pod in range(pods) for x in range(count)}
        return found | {f"core{x}": "core" for x in range(cores)}

    def problems(self) -> Iterator[Problem]:
        """Yield what contradicts what, by key."""
        counts = ("pods", "edges", "aggregations", "cores")
        given = [name for name in counts if getattr(self, name) is not None]
        if self.k is not None:
            if self.k % 2:
                yield ("k",), f"{self.k} is odd; a k-ary fat tree has an even k"
            for name in given:
                yield (name,), f"k gives the {name} already; write either k or all counts"
        else:
            missing = [name for name in (*counts, "hosts") if getattr(self, name) is None]
            if missing:
                yield (), f"write k, or all counts: {', '.join(missing)} is missing"
                return
            _, _, aggregations, cores, _ = self.size
            if cores % aggregations:
                told = f"{cores} cores cannot be shared evenly by {aggregations} aggregations"
                yield ("cores",), f"{told}; write a multiple"
        yield from super().problems()


class CableSection(Section):
    """Cables of one class: one, or `count`, between each of `from` and each of `to`."""

    source: Names = Field(alias="from", description="A node or a list of nodes.")
    target: Names = Field(alias="to", description="A node or a list of nodes.")
    link_class: str = Field(alias="class", description="One of link_classes.")
    count: Few = Field(default=1, description="Parallel cables.")


class GraphSection(FabricSection):
    """Any network: its switches and cables by name. Workers are worker0, worker1, ..."""

    kind: Annotated[Literal["graph"], one_of("a topology", "graph")]
    workers_: Count = Field(alias="workers", description="Number of workers: worker0, ...")
    names: Names = Field(alias="switches", description="The names of the switches.")
    link_classes: dict[str, LinkSection] = Field(description="The kinds of cables, by name.")
    links: tuple[CableSection, ...] = Field(description="The cables.")

    @property
    def workers(self) -> int:
        """The number of workers."""
        return self.workers_

    @property
    def switches(self) -> dict[str, str]:
        """The role of every switch by its name: leaf with a worker beside it, else inner."""
        leaves = leaf_names(self.workers, self.pairs())
        return {name: LEAF if name in leaves else INNER for name in self.names}

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the two ends of every cable, parallel ones once."""
        for link in self.links:
            for source in link.source:
                for target in link.target:
                    yield source, target

    def problems(self) -> Iterator[Problem]:
        """Yield what contradicts what, by key."""
        hosts = [f"worker{rank}" for rank in range(self.workers)]
        for place, name in enumerate(self.names):
            if name in hosts or name in ("server", "all", "switch") or name in self.names[:place]:
                yield ("switches", place), f"the name {shown(name)} is taken; choose another"
        found = [*self._links({*hosts, *self.names, "server"})]
        yield from found or [*self._reach(hosts)]
        yield from super().problems()

    def _links(self, known: set[str]) -> Iterator[Problem]:
        for place, link in enumerate(self.links):
            for key, names in (("from", link.source), ("to", link.target)):
                for name in names:
                    if name not in known:
                        told = f"there is no node {shown(name)}; nodes are worker0 to"
                        most = f"worker{self.workers - 1}, server and {listed(self.names)}"
                        yield ("links", place, key), f"{told} {most}"
            if set(link.source) & set(link.target):
                yield ("links", place), "a cable has two different ends"
            if link.link_class not in self.link_classes:
                told = f"there is no class {shown(link.link_class)}"
                yield ("links", place, "class"), f"{told}; one of {listed(self.link_classes)}"

    def _reach(self, hosts: list[str]) -> Iterator[Problem]:
        """Every worker must reach every other one by switches alone."""
        beside: dict[str, set[str]] = {}
        for one, other in self.pairs():
            beside.setdefault(one, set()).add(other)
            beside.setdefault(other, set()).add(one)
        reached: set[str] = set()
        frontier = sorted(beside.get("worker0", set()) & set(self.names))
        while frontier:
            reached.update(frontier)
            around = {name for node in frontier for name in beside[node]}
            frontier = sorted((around & set(self.names)) - reached)
        for host in hosts if len(hosts) > 1 else ():
            if not beside.get(host, set()) & reached:
                told = f"no switches lead from worker0 to {host}" if reached else "has no cable"
                told = told if reached else f"worker0 {told} to a switch"
                yield ("links",), f"{told}; every worker needs a way to every other"
                return


def listed(names: Mapping[str, Any] | tuple[str, ...]) -> str:
    """List some names for a message, of many the first few."""
    known = list(names)
    return ", ".join(known if len(known) <= 8 else [*known[:7], f"... ({len(known)} in all)"])


def _kind_of(value: object) -> str | None:
    if isinstance(value, Mapping):
        kind = value.get("kind", "star")
        return kind if kind in KINDS else None
    return getattr(value, "kind", None)


TopologySection = Annotated[
    Annotated[StarSection, Tag("star")]
    | Annotated[LeafSpineSection, Tag("leaf_spine")]
    | Annotated[FatTreeSection, Tag("fat_tree")]
    | Annotated[GraphSection, Tag("graph")],
    Discriminator(_kind_of),
]
