"""A check of the validator: the rule that it verifies, the findings that it can make, and the evidence that it needs."""

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Literal, TypeAlias

from uavsim.environment import install_line
from uavsim.validate.dataset import DIALECTS, DataSet, Dialect
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

Need: TypeAlias = Literal["tables", "geometry", "velocities", "images", "masks", "parquet"]
"""``geometry``: boxes and cameras in the map frame. ``images``, ``masks``: their pixels. ``parquet``: a Parquet reader."""
Look: TypeAlias = Callable[[Evidence], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Check:
    """One rule that a dataset must follow.

    Attributes:
        name: ``group.rule``, the key in ``Report.skipped``.
        codes: codes of the findings that the check can make.
        rule: one sentence.
        look: yields a finding for each violation.
        needs: evidence that the check needs.
        dialects: dialects that must follow the rule.
        tables: the check applies where one of these tables exists; () is everywhere.
    """

    name: str
    codes: tuple[str, ...]
    rule: str
    look: Look
    needs: Need
    dialects: tuple[Dialect, ...]
    tables: tuple[str, ...] = ()

    def applies(self, data: DataSet) -> bool:
        """Return whether the dataset has the dialect and the tables of the check."""
        return data.dialect in self.dialects and (not self.tables or any(name in data.tables for name in self.tables))

    def why_not(self, evidence: Evidence) -> str | None:
        """Return the reason to skip the check, or None."""
        if self.needs == "images" and not evidence.pixels:
            return "images were not decoded"
        if self.needs == "masks" and not evidence.has_masks:
            return "no instance masks with the boxes' ids" if evidence.pixels else "images were not decoded"
        if self.needs == "velocities" and evidence.boxes.velocity_mps is None:
            return "the boxes report no velocity"
        if self.needs == "parquet" and importlib.util.find_spec("pyarrow") is None:
            return f"Parquet is read by pyarrow, which is not installed: {install_line('streams')}"
        return None


def of(
    name: str,
    look: Look,
    *codes: str,
    needs: Need = "geometry",
    only: Dialect | None = None,
    where: tuple[str, ...] = (),
) -> Check:
    """Return a check; the first paragraph of its function's docstring is the rule.

    Args:
        name: ``group.rule``.
        look: yields the findings.
        codes: codes of these findings.
        needs: evidence that the check needs.
        only: the one dialect that must follow the rule; default: all.
        where: the check applies where one of these tables exists; default: everywhere.
    """
    assert look.__doc__, f"{name}: the check's function needs a docstring: it is the rule"
    rule = " ".join((look.__doc__ or "").split("\n\n")[0].split())  # python -OO has no docstrings, and no assert
    return Check(name, codes, rule, look, needs, (only,) if only else tuple(DIALECTS.values()), where)


def of_tables(
    name: str,
    look: Callable[[DataSet], Iterator[Finding]],
    *codes: str,
    only: Dialect | None = None,
    where: tuple[str, ...] = (),
) -> Check:
    """Return a check that reads tables alone; see ``of``."""

    @wraps(look)
    def look_at_tables(evidence: Evidence) -> Iterator[Finding]:
        return look(evidence.data)

    return of(name, look_at_tables, *codes, needs="tables", only=only, where=where)
