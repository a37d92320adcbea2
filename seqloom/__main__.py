"""The entry of the command line: process settings, then the commands, then errors as sentences with their exit codes."""

import os
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    _settle_process()
    sys.exit(_run())


def _settle_process() -> None:
    """Settings that only work before torch is imported. They belong to the program, never to `import seqloom`."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")


def _run() -> int:
    from seqloom.errors import SeqloomError

    try:
        from seqloom.cli.app import app

        code = app(standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SeqloomError as problem:
        print(f"seqloom: {problem}", file=sys.stderr)  # noqa: T201
        return problem.exit_code
    except KeyboardInterrupt:
        print("seqloom: interrupted", file=sys.stderr)  # noqa: T201
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): not our mistake, and nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as problem:
        return _usage_code(problem)


def _usage_code(problem: Exception) -> int:
    """Click's own complaints, as Click shows them; anything else is a fault of ours and keeps its traceback."""
    show = getattr(problem, "show", None)
    code = getattr(problem, "exit_code", None)
    if type(problem).__name__ == "Abort":
        print("seqloom: interrupted", file=sys.stderr)  # noqa: T201
        return 130
    if show is None or not isinstance(code, int):
        raise problem
    show()
    return code


if __name__ == "__main__":
    main()
