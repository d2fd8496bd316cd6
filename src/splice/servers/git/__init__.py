"""The git server: looks at Git repositories and changes them, within bounds. `splice serve git`."""
