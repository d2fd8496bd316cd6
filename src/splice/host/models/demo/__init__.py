"""The demo model: deterministic rules that play a model, so that everything can be tried offline and tested."""

from splice.host.models.demo.model import DemoModel

__all__ = ["DemoModel"]
