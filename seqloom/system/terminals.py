"""Text of others on a terminal: characters that would command it are shown, not sent.

An output, a file name or a line of data may hold escape sequences that move the cursor, change the window's title, or turn the
direction of writing. Files and pipes get all text as it is.
"""

import re
import sys

# Control characters but tab and line feed, and what turns the direction of writing.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""The text with every such character as JSON would write it: an escape is \u001b."""
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def for_output(text: str) -> str:
    """The text as it goes to standard output: visible if that is a terminal, else as it is."""
    return visible(text) if sys.stdout.isatty() else text


def as_pictures(text: str) -> str:
    """The text with one sign for every such character, so that places in it stay where they are."""
    return _COMMANDS.sub(lambda found: chr(0x2400 + ord(found[0])) if found[0] < " " else "\ufffd", text)
