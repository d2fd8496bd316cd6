"""What the parts of the host share: one object, made when the host opens."""

from msgspec import Struct

from splice.host.activity import Activity
from splice.host.approvals import Approvals
from splice.host.board import Board
from splice.host.connections import Connections
from splice.host.discovery import Discovery
from splice.host.questions import Questions
from splice.host.registry import Registry
from splice.host.results import Results
from splice.host.settings import Settings


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
