"""Findings of the validator, with place and numbers, and the report."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Final, Literal

from uavsim.typing import JsonDict

Severity = Literal["error", "warning"]
MAX_PER_CODE: Final = 1000  # findings of one code in a report; its counts are complete


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation of a rule.

    Attributes:
        code: one of ``checks.codes()``.
        scene: scene name, "" for the whole dataset.
        sample: sample token, or "".
        channel: sensor channel, or "".
        message: one line that describes the fault.
        numbers: measured values, and tokens of the rows.
    """

    code: str
    message: str
    severity: Severity = "error"
    scene: str = ""
    sample: str = ""
    channel: str = ""
    numbers: Mapping[str, object] = field(default_factory=dict)

    @property
    def place_text(self) -> str:
        """Scene / sample / channel, for printed tables."""
        return " / ".join(part for part in (self.scene, self.sample[:8], self.channel) if part) or "dataset"


@dataclass(frozen=True, slots=True)
class Report:
    """The report on one version folder of a dataset.

    Attributes:
        findings: at most ``MAX_PER_CODE`` of each code, in the order of the checks.
        counts: findings of each code, complete.
        errors: number of findings with severity error, complete.
        facts: contents of the dataset (``coverage``) and extent of the validation.
        skipped: reasons by name of the skipped check (no masks, no simulator velocity, ...).
    """

    folder: str
    version: str
    dialect: str
    findings: tuple[Finding, ...]
    counts: dict[str, int]
    errors: int
    facts: JsonDict
    skipped: dict[str, str]

    @property
    def ok(self) -> bool:
        """Whether there is no error; warnings are allowed."""
        return self.errors == 0

    def as_json(self) -> JsonDict:
        """Return the report as plain JSON values; numbers that are not finite become text."""
        names = ("ok", "folder", "version", "dialect", "errors", "counts", "facts", "skipped")
        return {name: getattr(self, name) for name in names} | {"findings": [_as_json(f) for f in self.findings]}


def collect(findings: Iterable[Finding]) -> tuple[tuple[Finding, ...], dict[str, int], int]:
    """Return the findings, at most ``MAX_PER_CODE`` of each code, the count of each code, and the number of errors."""
    counts: Counter[str] = Counter()
    listed, errors = [], 0
    for finding in findings:
        counts[finding.code] += 1
        errors += finding.severity == "error"
        if counts[finding.code] <= MAX_PER_CODE:
            listed.append(finding)
    return tuple(listed), dict(counts), errors


def _as_json(finding: Finding) -> JsonDict:
    row: JsonDict = {f.name: getattr(finding, f.name) for f in fields(finding)}
    return row | {"numbers": {name: _plain(value) for name, value in finding.numbers.items()}}


def _plain(value: object) -> object:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
