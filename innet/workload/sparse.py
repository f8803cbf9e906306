"""Sparse vectors on a network that does not sum them: pairs of index and value are exchanged.

Of a vector of N elements a rank has k = ceil(density x N) that are not zero. Which these are
differs from rank to rank, so nothing can be summed on the way and each of n ranks sends its k
pairs of p = 4 + value bytes:

| operation | runs as | bytes of the whole vector | dense instead from |
|---|---|---|---|
| all_reduce | all_gather: everyone gets all pairs and sums them | n k p | 2 N value bytes |
| reduce | gather at the root, which sums them | n k p | N value bytes |
| reduce_scatter | all_to_all: a pair goes to the owner of its index | k p | N value bytes |
| others | the same, of pairs | k p | N value bytes |

So torch.distributed sums sparse gradients, and so a shuffle by key works. From the last column's
bytes on, a sparse vector costs no less than the whole one, which is then exchanged as it is.
"""

from collections.abc import Mapping
from math import ceil

from innet.workload.actions import Call
from innet.workload.statements import CollectiveKind

INDEX_BYTES = 4
_EXCHANGES: Mapping[CollectiveKind, CollectiveKind] = {
    "all_reduce": "all_gather",
    "reduce": "gather",
    "reduce_scatter": "all_to_all",
}


def as_exchange(call: Call, value_bytes: int) -> Call:
    """Return the dense collective that a sparse call runs as, point to point.

    `value_bytes` is the size of an element. The pairs are plain words: their dtype is int32.
    """
    if call.density is None:
        return call
    elements = -(-call.size // value_bytes)
    pairs = ceil(call.density * elements)
    from_all = call.kind in ("all_reduce", "reduce")
    size = pairs * (INDEX_BYTES + value_bytes) * (len(call.group) if from_all else 1)
    if size >= call.size * (2 if call.kind == "all_reduce" else 1):
        return call._replace(density=None)
    kind = _EXCHANGES.get(call.kind, call.kind)
    return call._replace(kind=kind, size=size, op="sum", dtype="int32", density=None)
