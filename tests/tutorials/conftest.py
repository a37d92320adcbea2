"""Tutorials are typed at the command line: its fixtures are theirs."""

from cli.conftest import here, seqloom

__all__ = ["here", "seqloom"]
