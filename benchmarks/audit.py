"""Look for known faults: in what is installed, by pip-audit, and in the lower bounds of pyproject.toml, by the list below.

    make audit

A lower bound is a promise that seqloom works with that version, so it must not be one that reads a picture or a table of a
stranger unsafely. pip-audit asks a service; where that cannot be reached, it is said, and the bounds are checked all the same.
"""

import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Fault:
    """A fault that versions of a package before `repaired` have."""

    package: str
    repaired: str
    what: str


FAULTS = (
    Fault("babel", "2.9.1", "CVE-2021-42771: loads locale data from any folder and unpickles it"),
    Fault("numpy", "1.22", "CVE-2021-41495 and others: null pointers in array functions"),
    Fault("pillow", "12.3", "CVE-2026-59199: writes beyond the heap in paste, crop and alpha_composite; CVE-2026-25990 before"),
    Fault("pyarrow", "14.0.1", "CVE-2023-47248: runs code of Parquet and IPC files"),
    Fault("pydantic", "2.4", "CVE-2024-3772: a regular expression that takes for ever"),
    Fault("pyyaml", "5.4", "CVE-2020-14343: runs code of YAML through the full loader"),
    Fault("setuptools", "78.1.1", "CVE-2025-47273: writes files anywhere when it downloads packages"),
    Fault("starlette", "0.49.1", "CVE-2025-62727: a Range header takes all time"),
    Fault("torch", "2.6", "CVE-2025-32434: torch.load runs code in spite of weights_only"),
)

_REQUIREMENT = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?\s*(?:>=\s*([0-9.]+))?")


def lower_bounds(project: Path = ROOT / "pyproject.toml") -> dict[str, str]:
    """The lowest version that pyproject.toml allows of each package; empty if it allows any."""
    body = tomllib.loads(project.read_text(encoding="utf-8"))
    extras = body["project"]["optional-dependencies"].values()
    named = [*body["build-system"]["requires"], *body["project"]["dependencies"], *(one for extra in extras for one in extra)]
    found = (_REQUIREMENT.match(one) for one in named)
    return {match[1].lower().replace("_", "-"): match[2] or "" for match in found if match and match[1] != "seqloom"}


def numbers(version: str) -> tuple[int, ...]:
    """A version as numbers that compare."""
    return tuple(int(part) for part in version.split(".") if part)


def faulty_bounds(bounds: dict[str, str]) -> list[str]:
    """A sentence for each lower bound with a known fault."""
    return [
        f"{fault.package} >= {bounds[fault.package] or 'any'}: {fault.what}. Raise the bound to {fault.repaired}"
        for fault in FAULTS
        if fault.package in bounds and numbers(bounds[fault.package]) < numbers(fault.repaired)
    ]


def audit_installed() -> int:
    """Run pip-audit; 0 if it finds nothing or cannot ask."""
    command = [sys.executable, "-m", "pip_audit", "--skip-editable", "--progress-spinner", "off", "--timeout", "15"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    unreachable = ("ServiceError", "ConnectionError", "resolve", "Max retries", "No module named pip_audit")
    if ended.returncode and any(word in ended.stderr for word in unreachable):
        reason = (
            "is not installed (make audit installs it)" if "No module named" in ended.stderr else "cannot reach its service"
        )
        print(f"pip-audit {reason}: what is installed was not looked at")
        return 0
    print((ended.stdout + ended.stderr).strip())
    return ended.returncode


def main() -> int:
    """Check both; 1 if anything was found."""
    sentences = faulty_bounds(lower_bounds())
    for sentence in sentences:
        print(sentence)
    if not sentences:
        print(f"no lower bound of {len(lower_bounds())} has one of the {len(FAULTS)} known faults")
    return 1 if audit_installed() or sentences else 0


if __name__ == "__main__":
    sys.exit(main())
