"""Tensor files: what is read, and what each bad file is told."""

import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from innet.errors import ConfigurationError
from innet.tensors.read import read_tensors
from innet.wire.dtypes import DTYPES, narrow, numpy_dtype

LAYERS = {
    "fc.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "fc.bias": np.array([7, 8], dtype=np.float32),
}
JOINED = [0, 1, 2, 3, 4, 5, 7, 8]
NAMES = {"int32": "I32", "float32": "F32", "float16": "F16", "uint16": "BF16", "float64": "F64"}


def safetensors_bytes(tensors, **header):
    """A file as the format's document describes it; `header` replaces entries."""
    entries, data = {"__metadata__": {"format": "np"}}, b""
    for name, tensor in tensors.items():
        raw = tensor.tobytes()
        entries[name] = {
            "dtype": NAMES[str(tensor.dtype)],
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    for name, changes in header.items():
        entries[name] = entries.get(name, {}) | changes
    text = json.dumps(entries).encode()
    return len(text).to_bytes(8, "little") + text + data


def write(path, tensors):
    if path.suffix == ".npy":
        np.save(path, next(iter(tensors.values())))
    elif path.suffix == ".npz":
        np.savez(path, **tensors)
    else:
        path.write_bytes(safetensors_bytes(tensors))
    return path


def refused(paths, workers=1, dtype="float32"):
    with pytest.raises(ConfigurationError) as caught:
        read_tensors(paths, workers, dtype)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_file_a_worker(tmp_path, suffix, dtype):
    made = [np.arange(worker, worker + 6).reshape(2, 3) for worker in range(3)]
    if dtype == "int32":
        stored = [values.astype(np.int32) for values in made]
    else:
        stored = [narrow(values.astype(np.float32), dtype) for values in made]
    paths = [
        write(tmp_path / f"{worker}{suffix}", {"a": values}) for worker, values in enumerate(stored)
    ]
    vectors = read_tensors(paths, 3, dtype)
    for vector, values in zip(vectors, stored, strict=True):
        assert vector.dtype == numpy_dtype(dtype)
        assert np.array_equal(vector, values.reshape(-1))


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors"])
def test_one_file_with_a_leading_axis(tmp_path, suffix):
    values = np.arange(24, dtype=np.int32).reshape(4, 3, 2)
    vectors = read_tensors([write(tmp_path / f"all{suffix}", {"a": values})], 4, "int32")
    assert [vector.tolist() for vector in vectors] == values.reshape(4, 6).tolist()


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_several_tensors_are_joined_in_the_order_of_the_first_file(tmp_path, suffix):
    first = write(tmp_path / f"0{suffix}", LAYERS)
    second = write(tmp_path / f"1{suffix}", dict(reversed(LAYERS.items())))
    vectors = read_tensors([first, second], 2, "float32")
    assert [vector.tolist() for vector in vectors] == [JOINED, JOINED]


def test_several_tensors_with_a_leading_axis(tmp_path):
    stacked = {name: np.stack([layer, layer + 1]) for name, layer in LAYERS.items()}
    vectors = read_tensors([write(tmp_path / "all.npz", stacked)], 2, "float32")
    assert [vector.tolist() for vector in vectors] == [JOINED, [value + 1 for value in JOINED]]


@pytest.mark.parametrize("shape", [(0,), (), (1,), (1, 4)])
def test_one_worker_with_any_shape(tmp_path, shape):
    values = np.ones(shape, dtype=np.float32)
    for suffix in (".npy", ".npz", ".safetensors"):
        (vector,) = read_tensors([write(tmp_path / f"a{suffix}", {"a": values})], 1, "float32")
        assert vector.tolist() == values.reshape(-1).tolist()


def test_other_byte_orders_and_layouts_are_read_as_their_values(tmp_path):
    values = np.asfortranarray(np.arange(6, dtype=">f4").reshape(2, 3))
    (vector,) = read_tensors([write(tmp_path / "a.npy", {"a": values})], 1, "float32")
    assert vector.dtype == np.dtype(np.float32)
    assert vector.tolist() == [0, 1, 2, 3, 4, 5]


def test_bfloat16_as_ml_dtypes_saves_it(tmp_path):
    stored = np.array([0x3F80, 0xC000], dtype=np.uint16)
    path = write(tmp_path / "a.npy", {"a": stored.view("V2")})
    (vector,) = read_tensors([path], 1, "bfloat16")
    assert vector.tolist() == stored.tolist()


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors"])
def test_a_missing_file(tmp_path, suffix):
    path = tmp_path / f"none{suffix}"
    assert refused([path]) == f"{path}: no such tensor file"


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors"])
def test_a_directory_in_a_files_place(tmp_path, suffix):
    path = tmp_path / f"folder{suffix}"
    path.mkdir()
    assert refused([path]) == f"{path}: cannot read the tensor file: Is a directory"


def test_an_unknown_suffix(tmp_path):
    message = refused([tmp_path / "tensor.pt"])
    assert message.endswith("a tensor file ends in .npy, .npz, .safetensors, not '.pt'")


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors"])
@pytest.mark.parametrize("keep", [0.0, 0.1, 0.5, 0.99])
def test_a_file_cut_off(tmp_path, suffix, keep):
    path = write(tmp_path / f"a{suffix}", {"a": np.ones(100, dtype=np.float32)})
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    assert f"{path}: " in (message := refused([path]))
    assert "not a whole" in message


def test_bytes_after_the_array(tmp_path):
    path = write(tmp_path / "a.npy", LAYERS)
    path.write_bytes(path.read_bytes() + b"x")
    assert "bytes follow it" in refused([path])


def test_objects_are_never_unpickled(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.array([{}, None]), allow_pickle=True)
    assert "Object arrays cannot be loaded" in refused([path])
    path.write_bytes(pickle.dumps([1.0]))
    assert "not a whole numpy array" in refused([path])
    np.savez(tmp_path / "b.npz", a=np.array([{}, None]))
    assert "tensor 'a' is not a whole numpy array: Object" in refused([tmp_path / "b.npz"])


@pytest.mark.parametrize(
    ("suffix", "held", "wanted"),
    [
        (".npy", "float64", "float32"),
        (".npz", "float64", "float32"),
        (".safetensors", "F64", "F32"),
    ],
)
def test_another_dtype_is_not_converted(tmp_path, suffix, held, wanted):
    path = write(tmp_path / f"a{suffix}", {"array": np.ones(3)})
    assert refused([path]) == (
        f"{path}: tensor 'array' is {held}, but the collective's dtype float32 needs {wanted}"
    )


def test_bfloat16_is_no_float16(tmp_path):
    values = np.ones(3, dtype=np.float16)
    for suffix in (".npy", ".safetensors"):
        path = write(tmp_path / f"a{suffix}", {"a": values})
        assert "bfloat16 needs" in refused([path], dtype="bfloat16")


def test_the_wrong_number_of_files(tmp_path):
    paths = [write(tmp_path / f"{index}.npy", LAYERS) for index in range(2)]
    assert refused(paths, workers=3) == (
        "2 tensor files for 3 workers: give one file a worker, or one file with a leading axis of 3"
    )


@pytest.mark.parametrize("shape", [(2, 3), ()])
def test_a_leading_axis_of_another_length(tmp_path, shape):
    path = write(tmp_path / "a.npz", {"grad": np.ones(shape, dtype=np.float32)})
    message = refused([path], workers=4)
    assert message.startswith(f"{path}: tensor 'grad' has shape {shape};")
    assert message.endswith("needs a leading axis of 4")


def test_workers_of_different_lengths(tmp_path):
    first = write(tmp_path / "0.npy", {"a": np.ones(4, dtype=np.float32)})
    second = write(tmp_path / "1.npy", {"a": np.ones(5, dtype=np.float32)})
    assert refused([first, second], workers=2) == (
        f"{second}: tensor 'array': this file has one of shape (5,), but {first} has one of shape "
        "(4,); all workers need the same tensors"
    )


@pytest.mark.parametrize("extra", [0, 1])
def test_workers_with_different_tensors(tmp_path, extra):
    one_less = {"fc.weight": LAYERS["fc.weight"]}
    held = [one_less, LAYERS] if extra else [LAYERS, one_less]
    paths = [write(tmp_path / f"{worker}.npz", layers) for worker, layers in enumerate(held)]
    message = refused(paths, workers=2)
    assert message.startswith(f"{paths[1]}: tensor 'fc.bias': this file has ")
    assert ("this file has none" in message) is not bool(extra)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_values_that_are_not_finite_are_named(tmp_path, bad, dtype):
    values = np.ones((1 << 20) + 10, dtype=np.float32)
    values[(1 << 20) + 3] = bad
    path = write(tmp_path / "a.safetensors", {"fc": narrow(values, dtype)})
    assert f"tensor 'fc': element 1048579 is {bad};" in refused([path], dtype=dtype)


def test_an_archive_without_tensors(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path)
    assert refused([path]) == f"{path}: the file holds no tensor"


def test_a_tensor_that_is_there_twice(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, a=LAYERS["fc.bias"])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("a", archive.read("a.npy"))
    assert refused([path]) == f"{path}: tensor 'a' is there twice"


def test_a_member_that_is_no_array(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "not an array")
    assert "tensor 'notes.txt' is not a whole numpy array" in refused([path])


def test_a_damaged_archive(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, a=np.arange(1000, dtype=np.float32))
    data = bytearray(path.read_bytes())
    data[400:420] = bytes(20)
    path.write_bytes(data)
    assert str(path) in refused([path])


def test_tensors_larger_than_memory(tmp_path):
    path = tmp_path / "a.npz"
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000000,), }"
    with zipfile.ZipFile(path, "w") as archive:
        text = header.ljust(117) + "\n"
        archive.writestr(
            "a.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
        )
    assert refused([path]) == f"{path}: the tensors do not fit into memory"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"data_offsets": [0, 20]}, "of shape (2, 3) and F32 has 20 bytes"),
        ({"data_offsets": [4, 28]}, "begins at data byte 4, not 0"),
        ({"data_offsets": [24, 0]}, "lacks a right"),
        ({"data_offsets": [0, 24, 24]}, "lacks a right"),
        ({"data_offsets": [-24, 0]}, "lacks a right"),
        ({"data_offsets": None}, "lacks a right"),
        ({"shape": [7]}, "has 24 bytes"),
        ({"shape": [2.0, 3]}, "lacks a right"),
        ({"shape": [True, 6]}, "lacks a right"),
        ({"shape": "6"}, "lacks a right"),
        ({"dtype": 4}, "lacks a right"),
        ({"dtype": "Q8", "data_offsets": [0, 23]}, "begins at data byte 24, not 23"),
    ],
)
def test_a_safetensors_header_that_lies(tmp_path, changes, why):
    path = tmp_path / "a.safetensors"
    path.write_bytes(safetensors_bytes(LAYERS, **{"fc.weight": changes}))
    message = refused([path])
    assert message.startswith(f"{path}: not a whole safetensors file: ")
    assert why in message


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "end at byte 8 of 0"),
        ((10).to_bytes(8, "little") + b"{}", "end at byte 18 of 10"),
        ((2**63).to_bytes(8, "little") + b"{}", "of 10"),
        ((2).to_bytes(8, "little") + b"[]", "no JSON object"),
        ((2).to_bytes(8, "little") + b"{x", "no JSON object"),
        ((2).to_bytes(8, "little") + b"\xff\xff", "no JSON object"),
        ((13).to_bytes(8, "little") + b'{"a":1,"a":2}', "a name appears twice"),
        ((100_000).to_bytes(8, "little") + b"[" * 100_000, "no JSON object"),
        ((7).to_bytes(8, "little") + b'{"a":1}', "tensor 'a' lacks a right"),
        (safetensors_bytes(LAYERS) + b"x", "take 32 bytes of data, but it has 33"),
        ((2).to_bytes(8, "little") + b"{}", "holds no tensor"),
    ],
)
def test_a_broken_safetensors_file(tmp_path, data, why):
    path = tmp_path / "a.safetensors"
    path.write_bytes(data)
    assert why in refused([path])


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from([".npy", ".npz", ".safetensors"]),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=4),
    st.integers(0, 40),
)
def test_a_damaged_file_is_read_or_refused(tmp_path, suffix, changes, cut):
    path = write(tmp_path / f"a{suffix}", LAYERS)
    data = bytearray(path.read_bytes())
    for index, value in changes:
        data[index % len(data)] = value
    path.write_bytes(data[: len(data) - cut])
    try:
        vectors = read_tensors([path], 1, "float32")
    except ConfigurationError as error:
        assert str(path) in str(error)  # noqa: PT017
    else:
        assert len(vectors) == 1
