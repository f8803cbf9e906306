"""Tensors from .npy, .npz and .safetensors files, one flat vector a worker.

Either every worker has a file, or one file holds all workers along a leading axis. A file with
several tensors (the layers of a model) is joined, in the order of the first file, as a
training framework joins gradients into a bucket. Nothing is converted silently: a file whose
dtype is not the scenario's is refused. bfloat16 in numpy's formats is its 16 bits as uint16.
"""

import struct
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from innet.errors import ConfigurationError
from innet.tensors import safetensors
from innet.wire.dtypes import DType, numpy_dtype, widen

SUFFIXES = (".npy", ".npz", ".safetensors")

Tensors = dict[str, npt.NDArray[Any]]

_SAFETENSORS_NAMES: dict[DType, str] = {
    "int32": "I32",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
}
_CHUNK_ELEMENTS = 1 << 20


def read_tensors(paths: Sequence[Path], workers: int, dtype: DType) -> tuple[npt.NDArray[Any], ...]:
    """One flat vector of `numpy_dtype(dtype)` for each of `workers` workers, equally long.

    `paths` is one file a worker, or one file whose tensors have a leading axis of `workers`.
    ConfigurationError, naming the file and the tensor, when one is missing, unreadable, cut
    off, of another dtype or shape, unlike the first worker's, or holds NaN or infinity.
    """
    if len(paths) == workers:
        return _one_file_a_worker(paths, dtype)
    if len(paths) == 1:
        return _one_file_for_all(paths[0], workers, dtype)
    raise ConfigurationError(
        f"{len(paths)} tensor files for {workers} workers: give one file a worker, or one file "
        f"with a leading axis of {workers}"
    )


def _one_file_a_worker(paths: Sequence[Path], dtype: DType) -> tuple[npt.NDArray[Any], ...]:
    vectors = []
    wanted: dict[str, tuple[int, ...]] = {}
    for path in paths:
        tensors = _read_file(path, dtype)
        shapes = {name: tensor.shape for name, tensor in tensors.items()}
        wanted = wanted or shapes
        _require_like_first(path, shapes, wanted, paths[0])
        vectors.append(_join([tensors[name].reshape(-1) for name in wanted]))
    return tuple(vectors)


def _one_file_for_all(path: Path, workers: int, dtype: DType) -> tuple[npt.NDArray[Any], ...]:
    tensors = _read_file(path, dtype)
    for name, tensor in tensors.items():
        if tensor.ndim == 0 or tensor.shape[0] != workers:
            raise ConfigurationError(
                f"tensor '{name}' has shape {tensor.shape}; one file for all {workers} workers "
                f"needs a leading axis of {workers}",
                file=str(path),
            )
    return tuple(
        _join([tensor[worker].reshape(-1) for tensor in tensors.values()])
        for worker in range(workers)
    )


def _join(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _require_like_first(
    path: Path,
    shapes: dict[str, tuple[int, ...]],
    wanted: dict[str, tuple[int, ...]],
    first: Path,
) -> None:
    for name in {**wanted, **shapes}:
        if shapes.get(name) != wanted.get(name):
            held, right = (
                "none" if shape is None else f"one of shape {shape}"
                for shape in (shapes.get(name), wanted.get(name))
            )
            raise ConfigurationError(
                f"tensor '{name}': this file has {held}, but {first} has {right}; "
                "all workers need the same tensors",
                file=str(path),
            )


def _read_file(path: Path, dtype: DType) -> Tensors:
    """The file's tensors by name, in its order, of native byte order, checked to be finite."""
    if path.suffix not in SUFFIXES:
        raise ConfigurationError(
            f"a tensor file ends in {', '.join(SUFFIXES)}, not '{path.suffix}'", file=str(path)
        )
    try:
        tensors = _READERS[path.suffix](path, dtype)
    except FileNotFoundError:
        raise ConfigurationError("no such tensor file", file=str(path)) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigurationError(f"cannot read the tensor file: {why}", file=str(path)) from None
    except MemoryError:
        raise ConfigurationError("the tensors do not fit into memory", file=str(path)) from None
    if not tensors:
        raise ConfigurationError("the file holds no tensor", file=str(path))
    for name, tensor in tensors.items():
        _require_finite(path, name, tensor, dtype)
    return tensors


def _read_npy(path: Path, dtype: DType) -> Tensors:
    with path.open("rb") as file:
        tensor = _read_array(path, "array", file)
        if file.read(1):
            raise _broken_array(path, "array", "bytes follow it")
    return {"array": _native(path, "array", tensor, dtype)}


def _read_npz(path: Path, dtype: DType) -> Tensors:
    tensors: Tensors = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                name = member.removesuffix(".npy")
                if name in tensors:
                    raise ConfigurationError(f"tensor '{name}' is there twice", file=str(path))
                with archive.open(member) as file:
                    tensor = _read_array(path, name, file)
                tensors[name] = _native(path, name, tensor, dtype)
    except (zipfile.BadZipFile, EOFError, RuntimeError, ValueError, struct.error) as error:
        raise ConfigurationError(f"not a whole .npz file: {error}", file=str(path)) from None
    return tensors


def _read_array(path: Path, name: str, file: IO[bytes]) -> npt.NDArray[Any]:
    """numpy reads a header with Python's own parser, and lets through whatever that raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # headers written by Python 2
            return np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise _broken_array(path, name, str(error) or type(error).__name__) from None


def _broken_array(path: Path, name: str, why: str) -> ConfigurationError:
    line = " ".join(why.split())
    return ConfigurationError(f"tensor '{name}' is not a whole numpy array: {line}", file=str(path))


def _native(path: Path, name: str, tensor: npt.NDArray[Any], dtype: DType) -> npt.NDArray[Any]:
    """`tensor` in this machine's byte order, if it is of `dtype`."""
    wanted = numpy_dtype(dtype)
    if dtype == "bfloat16" and tensor.dtype == np.dtype("V2"):  # how ml_dtypes saves it
        tensor = tensor.view(np.uint16)
    if tensor.dtype.newbyteorder("=") != wanted:
        raise _wrong_dtype(path, name, str(tensor.dtype), dtype, str(wanted))
    return tensor.astype(wanted, copy=False)


def _read_safetensors(path: Path, dtype: DType) -> Tensors:
    entries, start = safetensors.read_header(path)
    wanted = _SAFETENSORS_NAMES[dtype]
    tensors: Tensors = {}
    for entry in entries:
        if entry.dtype != wanted:
            raise _wrong_dtype(path, entry.name, entry.dtype, dtype, wanted)
        tensor = safetensors.read_entry(path, entry, start)
        tensors[entry.name] = tensor.astype(numpy_dtype(dtype), copy=False)
    return tensors


def _wrong_dtype(path: Path, name: str, held: str, dtype: DType, wanted: str) -> ConfigurationError:
    return ConfigurationError(
        f"tensor '{name}' is {held}, but the collective's dtype {dtype} needs {wanted}",
        file=str(path),
    )


def _require_finite(path: Path, name: str, tensor: npt.NDArray[Any], dtype: DType) -> None:
    if dtype == "int32":
        return
    flat = tensor.reshape(-1)
    for start in range(0, flat.size, _CHUNK_ELEMENTS):
        part = widen(flat[start : start + _CHUNK_ELEMENTS], dtype)
        finite = np.isfinite(part)
        if not finite.all():
            index = int(finite.argmin())
            raise ConfigurationError(
                f"tensor '{name}': element {start + index} is {part[index]}; "
                "values to be summed must be finite",
                file=str(path),
            )


_READERS = {".npy": _read_npy, ".npz": _read_npz, ".safetensors": _read_safetensors}
