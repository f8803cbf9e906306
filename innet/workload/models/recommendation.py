"""DLRM (Naumov et al., 2019) as MLPerf trained it first, on Criteo's terabyte of clicks.

At most 40 million rows a table; rows of 128; pairwise dot products between the features. The
tables are sharded and the dense layers replicated.
"""

from innet.workload.model import Layer, Model
from innet.workload.models.parts import stack

_ROW = 128
# fmt: off
_TABLE_ROWS = (
    39884406, 39043, 17289, 7420, 20263, 3, 7120, 1543, 63, 38532951, 2953546, 403346, 10,
    2208, 11938, 155, 4, 976, 14, 39979771, 25641295, 39664984, 585935, 12972, 108, 36,
)
# fmt: on
_BOTTOM = (13, 512, 256, _ROW)
_FEATURES = len(_TABLE_ROWS) + 1
_TOP = (_FEATURES * (_FEATURES - 1) // 2 + _ROW, 1024, 1024, 512, 256, 1)


def dlrm() -> Model:
    """Return the model; a table's look-up costs no work."""
    tables = (
        Layer(f"table{place}", (rows * _ROW,), 0, 0) for place, rows in enumerate(_TABLE_ROWS)
    )
    return Model("dlrm", (*stack("bottom", _BOTTOM), *stack("top", _TOP)), tuple(tables))
