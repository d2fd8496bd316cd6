"""Reads pages of the web for a model, as Markdown where they are HTML: `splice serve fetch`."""
