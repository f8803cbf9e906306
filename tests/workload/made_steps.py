"""What a step of plain lists and mappings makes every rank do."""

from innet.workload.mesh import Mesh
from innet.workload.parse import parse_step
from innet.workload.program import Workload
from innet.workload.statements import Place


def programs(mesh, step):
    """The actions of every rank, without places."""
    parsed = parse_step(step, {}, tuple(mesh), lambda path: Place("", None))
    workload = Workload(Mesh(mesh), parsed, {})
    return [list(workload.program(rank)) for rank in range(workload.mesh.ranks)]
