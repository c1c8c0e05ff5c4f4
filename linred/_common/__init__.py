"""Argument checks, atomic file writes, immutable objects and text rendering, for use by every package.

Nothing here is specific to privacy, and nothing imports another package; `render` loads `linred.report` at run time.
"""
