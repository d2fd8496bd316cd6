"""The hints of the tools: what a client may take for granted about a call."""

from splice.types import ToolAnnotations

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
"""It answers, and that is all."""

KEEPS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True)
"""It may fetch something, and keeps it; the same again keeps the same."""

CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
"""Each call changes something of the server's."""

ASKS = CHANGES
"""Each call asks the user anew, and nothing else."""

ASKS_OUTSIDE = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True
)
"""Each call asks something that lies beyond client and server: a model, or a page in the user's browser."""
