"""What one measurement yields: a few named numbers."""

from collections.abc import Sequence
from statistics import median
from typing import TypeAlias

Sample: TypeAlias = dict[str, float]
"""A metric's name and its value; the unit is part of the name."""

CPU = "CPU us/call"
RATE = "calls/s"
P50 = "p50 us"
RSS = "RSS MB"


def sample(took: Sequence[float], seconds: float, cpu: float, rss: float) -> Sample:
    """Sum up calls: how long each took, how long all took, and the CPU seconds and memory of the one measured."""
    return {
        CPU: cpu / len(took) * 1e6,
        RATE: len(took) / seconds,
        P50: median(took) * 1e6,
        RSS: rss,
    }
