"""What the parts of the host share: one object, made when the host opens."""

from msgspec import Struct

from splice.host.asking.approvals import Approvals
from splice.host.asking.questions import Questions
from splice.host.board import Board
from splice.host.connecting.connections import Connections
from splice.host.records.activity import Activity
from splice.host.settings import Settings
from splice.host.tools.discovery import Discovery
from splice.host.tools.registry import Registry
from splice.host.tools.results import Results


class Parts(Struct):
    """The parts that a turn needs."""

    board: Board
    activity: Activity
    settings: Settings
    connections: Connections
    registry: Registry
    discovery: Discovery
    questions: Questions
    approvals: Approvals
    results: Results
