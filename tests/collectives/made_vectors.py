"""What every kind of collective begins with and what it must end with, as vectors."""

import numpy as np

from innet.collectives.schedule import block_bounds

NOTHING = -7_000_000  # what a place has where it has nothing


def shares_of(kind, places, elements):
    """Every place's part of the vector at first, and in the end; None for no part of it."""
    bounds = block_bounds(elements, places * places if kind == "all_to_all" else places)
    blocks = [np.arange(bounds[b], bounds[b + 1]) for b in range(len(bounds) - 1)]
    if kind != "all_to_all":
        return blocks, blocks
    rows = [np.concatenate(blocks[p * places : (p + 1) * places]) for p in range(places)]
    return rows, [np.concatenate(blocks[p::places]) for p in range(places)]


def given_and_wanted(kind, places, elements, root):
    """Vectors of integers at first, and for each place a part and what it must be in the end."""
    whole = np.arange(elements)
    first, last = shares_of(kind, places, elements)
    full = [1000 * (place + 1) + whole for place in range(places)]
    total = sum(full)
    vectors = [np.full(elements, NOTHING) for _ in range(places)]
    if kind in ("all_reduce", "reduce_scatter", "reduce"):
        vectors = full
    elif kind in ("broadcast", "send"):
        vectors[root] = full[root]
    else:
        for place, share in enumerate(first):
            vectors[place][share] = whole[share]
    everywhere, nowhere = slice(None), slice(0, 0)
    at_root = [everywhere if place == root else nowhere for place in range(places)]
    where = {"reduce": at_root, "gather": at_root, "reduce_scatter": last, "all_to_all": last}
    parts = where.get(kind, [everywhere] * places)
    if kind == "send":
        parts = [nowhere, everywhere]
    right = full[root] if kind in ("broadcast", "send") else whole
    right = total if kind in ("all_reduce", "reduce_scatter", "reduce") else right
    return vectors, [(part, right[part]) for part in parts]
