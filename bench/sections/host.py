"""The host: 20 servers with 500 tools, a server that writes 10,000 log messages, an activity log of 10,000 records."""

import json
import tempfile
from collections.abc import Iterator
from functools import partial

from bench.peers import BENCH, SPLICE, Peer
from bench.process import run_json
from bench.runner import Section, Settings, Step
from bench.samples import Sample

LIMIT_SECONDS = 60.0
PROGRAM = str(BENCH / "host.py")
MEASURED = {
    "turn": "a message to the model, 500 tools of 20 servers",
    "chatter": "a call with 10,000 log messages",
    "log": "50 pages of a log of 10,000 records",
}


def steps(peer: Peer, settings: Settings) -> Iterator[Step]:
    """Let servers be known from a run before; then measure each in a process of its own."""
    del settings
    with tempfile.TemporaryDirectory() as home:
        _measured(peer, "prepare", home)
        for kind, words in MEASURED.items():
            yield words, partial(_measured, peer, kind, home)


def _measured(peer: Peer, kind: str, home: str) -> Sample:
    sample: Sample = json.loads(run_json([str(peer.program), PROGRAM, kind, home], LIMIT_SECONDS))
    return sample


HOST = Section(
    name="host",
    title="The host",
    note=(
        "A turn: from the imported host until the model gets the message and the tools, with lists known from a run "
        "before; no server is started for it. Busy: for how much CPU time the event loop does not answer at most. "
        "Wall of the log: its slowest page of 200 records; search: for a word that 111 records have."
    ),
    peers=(SPLICE,),
    columns=("CPU ms", "wall ms", "busy ms", "search ms", "processes"),
    ratio=("CPU ms",),
    steps=steps,
    baseline=SPLICE,
)
