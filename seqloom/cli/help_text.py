"""How help looks: plain text, which is quick to print and easy to search, with examples kept as they were written."""

import inspect
from typing import Any

from typer.core import TyperCommand


class Command(TyperCommand):
    """A command whose arguments are shown by their metavar alone, and whose docstring may hold indented examples."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the usage line: arguments as their metavars say it, then options."""
        arguments = [parameter.metavar for parameter in self.get_params(ctx) if parameter.param_type_name == "argument"]
        formatter.write_usage(ctx.command_path, " ".join([*filter(None, arguments), "[OPTIONS]"]))

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the docstring: paragraphs are wrapped, indented lines are examples and stay whole."""
        for paragraph in inspect.cleandoc(self.help or "").split("\n\n"):
            formatter.write_paragraph()
            with formatter.indentation():
                lines = paragraph.splitlines()
                if any(line.startswith(" ") for line in lines):
                    for line in lines:
                        formatter.write(f"{'':{formatter.current_indent}}{line}\n")
                else:
                    formatter.write_text(" ".join(lines))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            rows = [
                (parameter.metavar if kind == "argument" and parameter.metavar else record[0], record[1])
                for parameter in self.get_params(ctx)
                if parameter.param_type_name == kind and (record := parameter.get_help_record(ctx)) is not None
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
