"""From a layer workload to a training step, in the order of ASTRA-sim's training loops.

Forward: each layer computes, then its collective is waited for. Backward: the gradients of
weights are summed while the backward pass goes on and are waited for at the end; whether the
collective of the inputs' gradient is waited for at once depends on the policy.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from innet.errors import ConfigurationError
from innet.workload.importers.imported import Entry, Imported, collective, compute, counted, wait
from innet.workload.importers.layers import LayerFile, LayerLine, Pass, read_layers


@dataclass(frozen=True, slots=True)
class _Policy:
    """Which ranks the columns mean: "data", "model" or "all" of them, or None where ASTRA-sim
    does not run the column; and how the backward pass treats the gradients of inputs."""

    activations: str | None
    weights: str | None
    inputs_first: bool = True
    inputs_wait: bool = False


_POLICIES: Mapping[str, _Policy] = {
    "DATA": _Policy(None, "all", inputs_first=False),
    "MODEL": _Policy("all", None),
    "HYBRID_DATA_MODEL": _Policy("model", "data"),
    "HYBRID_MODEL_DATA": _Policy("model", "data"),
    "HYBRID_CUSTOMIZED": _Policy("model", "data"),
    "HYBRID_TRANSFORMER": _Policy("model", "data", inputs_wait=True),
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD": _Policy("model", "data", inputs_wait=True),
    "HYBRID_DLRM": _Policy("all", "all", inputs_first=False),
    "HYBRID_DLRM_ENHANCED": _Policy("all", "all", inputs_first=False),
}


def import_layers(path: Path, ranks: int | None, model_parallel: int | None) -> Imported:
    """Return the step of a layer workload.

    `ranks` is the whole number of ranks and `model_parallel` how many of them share a model;
    None takes what the file says. ConfigurationError where it says nothing, or numbers clash.
    """
    file = read_layers(path)
    policy = _POLICIES.get(file.policy)
    if policy is None:
        known = ", ".join(_POLICIES)
        message = f"'{file.policy}' is not supported; the first line must begin with one of {known}"
        raise ConfigurationError(message, file=str(path), line=1)
    mesh = _Mesh(path, file, ranks, model_parallel)
    loop = _DlrmLoop if file.policy.startswith("HYBRID_DLRM") else _Loop
    return loop(file, policy, mesh).imported()


class _Mesh:
    """The axes of the ranks, and which of them a column's collective runs over."""

    def __init__(
        self, path: Path, file: LayerFile, ranks: int | None, model_parallel: int | None
    ) -> None:
        numbers = file.numbers
        policy = _POLICIES[file.policy]
        self.stages = numbers.get("pp", 1)
        total = ranks if ranks is not None else numbers.get("all_gpus", 0) // self.stages
        if not total:
            raise ConfigurationError("the file does not say how many ranks there are; give it")
        hybrid = "model" in (policy.activations, policy.weights)
        tp = model_parallel or numbers.get("model_parallel_NPU_group") if hybrid else 1
        if not tp:
            raise ConfigurationError(f"{file.policy} needs the number of model-parallel ranks")
        experts = numbers.get("ep", 1)
        if total % (tp * experts):
            raise ConfigurationError(
                f"{path}: {total} ranks are no multiple of {tp} model-parallel ranks "
                f"times {experts} expert-parallel ranks"
            )
        sizes = {"dp": total // (tp * experts), "ep": experts, "tp": tp}
        self.axes = {axis: size for axis, size in sizes.items() if size > 1 or axis == "dp"}

    def over(self, group: str) -> str:
        """The axes of a group, "" where it is one rank alone."""
        wanted = {
            "data": ("dp", "ep"),
            "model": ("tp",),
            "all": ("dp", "ep", "tp"),
            "EP": ("ep",),
            "DP_EP": ("dp",),
        }[group]
        return ",".join(axis for axis in wanted if self.axes.get(axis, 1) > 1)


class _Loop:
    """Builds a step, layer by layer."""

    def __init__(self, file: LayerFile, policy: _Policy, mesh: _Mesh) -> None:
        self._file, self._policy, self._mesh = file, policy, mesh
        self._begun: list[str] = []
        self._not_run = self._alone = 0

    def imported(self) -> Imported:
        """The whole step, with notes."""
        step = (*self.forward(), *self.backward(), *self._end())
        return Imported(dict(self._mesh.axes), step, tuple(self._notes()))

    def forward(self) -> Iterator[Entry]:
        """Every layer in order."""
        for layer in self._file.layers:
            yield from compute(layer.forward.compute_ps)
            yield from self.activations(layer, layer.forward)

    def backward(self) -> Iterator[Entry]:
        """Every layer in reverse order."""
        for place, layer in reversed(tuple(enumerate(self._file.layers))):
            parts = (self.inputs(layer, place), self.weights(layer, place))
            for part in parts if self._policy.inputs_first else reversed(parts):
                yield from part

    def inputs(self, layer: LayerLine, place: int) -> Iterator[Entry]:
        """The gradient of a layer's inputs; nothing needs that of the first layer."""
        if not self._policy.inputs_first:
            if place > 0:
                yield from compute(layer.inputs.compute_ps)
                self.count_not_run(layer.inputs)
            return
        yield from compute(layer.inputs.compute_ps)
        if self._policy.inputs_wait:
            yield from self.activations(layer, layer.inputs)
        elif place > 0:
            yield from self.activations(layer, layer.inputs, f"inputs{place}")

    def weights(self, layer: LayerLine, place: int) -> Iterator[Entry]:
        """The gradient of a layer's weights, summed beside what follows."""
        yield from compute(layer.weights.compute_ps)
        group = self._policy_of(layer).weights
        yield from self.communicate(layer.weights, group, f"weights{place}")
        yield from self.waits(f"inputs{place}")

    def activations(
        self, layer: LayerLine, column: Pass, handle: str | None = None
    ) -> Iterator[Entry]:
        """The collective of a forward pass or of the gradient of inputs."""
        return self.communicate(column, self._policy_of(layer).activations, handle)

    def communicate(
        self, column: Pass, group: str | None, handle: str | None = None
    ) -> Iterator[Entry]:
        """A column's collective, if it has one, ASTRA-sim runs it and its group is not alone."""
        communication = column.communication
        if communication is None:
            return
        if group is None:
            self.count_not_run(column)
            return
        over = self._mesh.over(communication.group or group)
        if not over:
            self._alone += 1
            return
        if handle is not None:
            self._begun.append(handle)
        yield collective(communication.kind, communication.size_bytes, over, handle)

    def waits(self, handle: str) -> Iterator[Entry]:
        """Wait for a collective if it was begun and nothing has waited for it."""
        if handle in self._begun:
            self._begun.remove(handle)
            yield wait(handle)

    def _policy_of(self, layer: LayerLine) -> _Policy:
        """The file's policy, or the layer's own under HYBRID_CUSTOMIZED."""
        if layer.policy is None:
            return self._policy
        policy = _POLICIES.get(layer.policy)
        if policy is None:
            raise ConfigurationError(
                f"layer {layer.name}: '{layer.policy}' is not supported; use {', '.join(_POLICIES)}"
            )
        return policy

    def count_not_run(self, column: Pass) -> None:
        """Remember that a column's collective, if it has one, is left out."""
        self._not_run += column.communication is not None

    def _end(self) -> Iterator[Entry]:
        for handle in self._begun:
            yield wait(handle)
        yield from compute(max((layer.update_ps for layer in self._file.layers), default=0))

    def _notes(self) -> Iterator[str]:
        yield "times are taken as ns, sizes as bytes of the whole vector"
        yield "weights are updated side by side, after the last gradient is there"
        if self._not_run:
            what = counted(self._not_run, "collective", "collectives")
            yield f"left out: {what} in columns that {self._file.policy} does not run"
        if self._alone:
            yield f"left out: {counted(self._alone, 'collective', 'collectives')} of one rank alone"
        if self._mesh.stages > 1:
            yield f"left out: transfers between {self._mesh.stages} pipeline stages; this is one"
        for key in ("checkpoints", "checkpoint_initiates"):
            if self._file.numbers.get(key, 0):
                yield f"left out: {key}, so that no forward pass is computed again"


class _DlrmLoop(_Loop):
    """DLRM: the exchange of embeddings, of layer 0, goes on beside the bottom layers."""

    def forward(self) -> Iterator[Entry]:
        """Every layer in order; the last bottom layer waits for the exchange."""
        for place, layer in enumerate(self._file.layers):
            yield from compute(layer.forward.compute_ps)
            exchange = layer.forward.communication
            if exchange is not None and exchange.kind == "all_to_all":
                yield from self.activations(layer, layer.forward, f"exchange{place}")
            else:
                self.count_not_run(layer.forward)
            if place == self._last_bottom:
                yield from self.waits("exchange0")
        for place in range(1, len(self._file.layers)):
            yield from self.waits(f"exchange{place}")

    def backward(self) -> Iterator[Entry]:
        """Every layer in reverse order; the exchange back begins when the top layers are done."""
        for place, layer in reversed(tuple(enumerate(self._file.layers))):
            yield from self.weights(layer, place)
            yield from self.inputs(layer, place)
            if place == self._last_bottom + 1:
                first = self._file.layers[0]
                yield from self.activations(first, first.inputs, "exchange_back")
        yield from self.waits("exchange_back")

    @property
    def _last_bottom(self) -> int:
        return self._file.numbers.get("DLRM_LAST_BOTTOM_LAYER", 0)
