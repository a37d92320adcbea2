"""The entry of the command line: process settings, then the commands, then errors as sentences with their exit codes."""

import errno
import gc
import io
import os
import sys
import warnings
from typing import TextIO


def main() -> None:
    """Run the command line and exit with its code."""
    _settle_process()
    try:
        sys.exit(_run())
    finally:
        # At its end the interpreter looks for garbage among all objects, twice, though the system takes the memory anyway: a
        # seventh of a short command's time.
        gc.freeze()


def _settle_process() -> None:
    """Settings that only work before torch is imported. They belong to the program, never to `import seqloom`."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    if "OMP_WAIT_POLICY" not in os.environ:
        # How long a thread spins before it sleeps. By default long enough to steal whole cores from whatever else runs here,
        # other trainings too; this is long enough for two neighbouring operations to meet. See docs/performance.md.
        os.environ.setdefault("GOMP_SPINCOUNT", "2000")
    # Else pydantic looks through all that is installed, for plugins that we have no use for.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "true")
    # Imports make many objects that stay: going through them again and again takes a tenth of a short command's time.
    gc.set_threshold(100_000, 50, 50)
    _keep_freed_memory()


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""The numbers of the options in glibc's malloc.h."""
_ALLOCATOR_VARIABLES = frozenset({"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"})


def _keep_freed_memory() -> None:
    """Let glibc keep large blocks that are freed, because every update wants the same ones again.

    By default they go back to the system, which fills them with zeros, page by page, when they are next used. See
    docs/performance.md. Other allocators have no such options, and whoever has set glibc's has reasons.
    """
    if sys.platform != "linux" or not _ALLOCATOR_VARIABLES.isdisjoint(os.environ):
        return
    import ctypes

    try:
        set_option = ctypes.CDLL(None).mallopt
    except AttributeError:  # another libc
        return
    # 32 MB is the most that all versions of glibc accept. The second option without the first would make things worse.
    if set_option(_MMAP_THRESHOLD, 32 << 20):
        set_option(_TRIM_THRESHOLD, 1 << 30)


def _run() -> int:
    from seqloom.errors import SeqloomError

    try:
        code = _command()
        sys.stdout.flush()  # here, where a failure still has an answer; at the interpreter's end it has none
    except SeqloomError as problem:
        return _complain(str(problem), problem.exit_code)
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except OSError as problem:
        return _name_code(problem) if problem.errno == errno.ENAMETOOLONG else _output_code(problem)
    except Exception as problem:
        return _usage_code(problem)
    return code


def _command() -> int:
    from seqloom.cli.app import app_for

    warnings.showwarning = _advise
    try:
        code = app_for(next(iter(sys.argv[1:]), None))(standalone_mode=False)
    except SystemExit as leaving:
        # Typer leaves by itself when the reader of our output has gone.
        if isinstance(leaving.__context__, BrokenPipeError):
            raise leaving.__context__ from None
        raise
    return code if isinstance(code, int) else 0


def _name_code(problem: OSError) -> int:
    """A name that no file can have: a text, most likely, that was pasted where a file is expected."""
    name = os.fsdecode(problem.filename or "")
    shown = f"{name[:60]!r}..." if len(name) > 60 else repr(name)
    return _complain(
        f"{shown}: expected the name of a file or a folder, found {len(os.fsencode(name))} bytes, more than a name may have. "
        "Check the path; a text goes where the command takes one, or into a file",
        3,
    )


_PLACES = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP})
_show = warnings.showwarning


def _advise(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Our own warnings as sentences; others as Python shows them."""
    from seqloom.errors import SeqloomWarning

    if issubclass(category, SeqloomWarning):
        print(f"seqloom: {message}", file=sys.stderr)  # noqa: T201
    else:
        _show(message, category, filename, lineno, file, line)


def _output_code(problem: OSError) -> int:
    """Standard output that takes no more, or a place that may not be looked at.

    Any other failure of the system here is a fault of ours and keeps its traceback.
    """
    if problem.errno in _PLACES and problem.filename is not None:
        return _complain(f"{problem.filename}: {problem.strerror}. Check the path and its permissions", 3)
    if problem.errno not in {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        raise problem
    # What could not be written must not be tried again when the interpreter ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if problem.errno == errno.EPIPE:
        return 0  # the reader has gone (`| head`): not our mistake, and nothing is left to say
    return _complain(f"the output could not be written ({problem.strerror}). Make room, or write it elsewhere", 5)


def _usage_code(problem: Exception) -> int:
    """Click's own complaints, as Click shows them; anything else is a fault of ours and keeps its traceback."""
    show = getattr(problem, "show", None)
    code = getattr(problem, "exit_code", None)
    if type(problem).__name__ == "Abort":
        return _complain("interrupted", 130)
    if show is None or not isinstance(code, int):
        raise problem
    shown = io.StringIO()
    show(file=shown)
    sys.stderr.write(_tame(shown.getvalue()))
    return code


def _complain(sentence: str, code: int) -> int:
    print(f"seqloom: {_tame(sentence)}", file=sys.stderr)  # noqa: T201
    return code


def _tame(text: str) -> str:
    """A message without what would command a terminal; a name with a line end in it does not break the line."""
    from seqloom.system.terminals import visible

    for word in sys.argv[1:]:
        if "\n" in word:
            text = text.replace(word, word.replace("\n", r"\n"))
    return visible(text)


if __name__ == "__main__":
    main()
