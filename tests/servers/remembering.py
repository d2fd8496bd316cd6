"""A process that writes a memory: `remembering.py FILE NAME COUNT`. Each name that is answered is told on stdout."""

import os
import sys
from functools import partial

from splice.servers.memory.graph import Entity, Graph
from splice.servers.memory.store import Store

path, own, count = sys.argv[1:]
store = Store(path)
os.write(1, b"ready\n")
sys.stdin.readline()
for number in range(int(count)):
    entities = [Entity(f"{own}-{number}", "t", [f"{own} " * 50])]
    done = store.change(partial(Graph.create_entities, new=entities))
    os.write(1, f"{done.answer[0].name}\n".encode())
