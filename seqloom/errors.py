"""The mistakes a person can make, each with the exit code that the command line answers with.

Every message says what was expected, what came and what to do. The command line prints it without a traceback.
"""


class SeqloomWarning(UserWarning):
    """Advice that is meant for a person. The command line prints it as a sentence."""


class SeqloomError(Exception):
    """Base of all errors that are meant for a person; never raised itself."""

    exit_code = 1


class UsageError(SeqloomError):
    """A command, an argument or a Python call that cannot be carried out as given."""

    exit_code = 2


class RecipeError(SeqloomError):
    """A recipe that is malformed or asks for things that cannot go together."""

    exit_code = 2


class MissingExtraError(SeqloomError):
    """An optional library is not installed; the message names the extra that brings it."""

    exit_code = 2

    def __init__(self, what: str, extra: str) -> None:
        from seqloom.installation import install_command

        super().__init__(f"{what} needs the extra '{extra}', which is not installed. Run: {install_command(extra)}")


class DataError(SeqloomError):
    """Data that is missing or cannot be read as what it is said to be; names file and line."""

    exit_code = 3


class RunError(SeqloomError):
    """A run folder that is missing, damaged, foreign, locked, or does not fit the request."""

    exit_code = 4


class WriteError(SeqloomError):
    """A file could not be written, for lack of space or permission."""

    exit_code = 5
