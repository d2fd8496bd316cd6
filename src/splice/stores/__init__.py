"""Keeps state that outlives a request or a process, behind one seam. Knows no protocol."""
