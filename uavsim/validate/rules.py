"""A check of the validator: what it requires, which findings it can make, and what it needs to look."""

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from uavsim.environment import install_line
from uavsim.validate.dataset import DIALECTS, DataSet, Dialect
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

__all__ = ["Check", "Need", "of", "of_tables"]

Need: TypeAlias = Literal["tables", "geometry", "velocities", "images", "masks", "parquet"]
"""``geometry``: boxes and cameras placed in the map. ``images``, ``masks``: their pixels. ``parquet``: its reader."""
Look: TypeAlias = Callable[[Evidence], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Check:
    """One rule that a dataset has to keep.

    Attributes:
        name: ``group.rule``, what ``Report.skipped`` calls it.
        codes: of the findings it can make.
        rule: one sentence.
        look: yields what breaks it.
        needs: what must be there to look.
        dialects: that have to keep it.
        tables: it is made where one of these is; () is everywhere.
    """

    name: str
    codes: tuple[str, ...]
    rule: str
    look: Look
    needs: Need
    dialects: tuple[Dialect, ...]
    tables: tuple[str, ...] = ()

    def applies(self, data: DataSet) -> bool:
        """Say whether the dataset has what it is about."""
        return data.dialect in self.dialects and (not self.tables or any(name in data.tables for name in self.tables))

    def why_not(self, evidence: Evidence) -> str | None:
        """Return why it cannot be made, or None."""
        if self.needs == "images" and not evidence.pixels:
            return "images were not decoded"
        if self.needs == "masks" and not evidence.has_masks:
            return "no instance masks with the boxes' ids" if evidence.pixels else "images were not decoded"
        if self.needs == "velocities" and evidence.boxes.velocity_mps is None:
            return "the boxes report no velocity"
        if self.needs == "parquet" and importlib.util.find_spec("pyarrow") is None:
            return f"Parquet is read by pyarrow, which is not installed: {install_line('streams')}"
        return None


def of_tables(
    name: str,
    look: Callable[[DataSet], Iterator[Finding]],
    *codes: str,
    only: Dialect | None = None,
    where: tuple[str, ...] = (),
) -> Check:
    """Return a check that reads tables alone; see ``of``."""
    return _check(
        name, lambda evidence: look(evidence.data), codes, "tables", rule=look.__doc__, only=only, tables=where
    )


def of(
    name: str,
    look: Look,
    *codes: str,
    needs: Need = "geometry",
    only: Dialect | None = None,
    where: tuple[str, ...] = (),
) -> Check:
    """Return a check whose rule is the first sentence of its function's docstring.

    Args:
        name: ``group.rule``.
        look: yields the findings.
        codes: that they may have.
        needs: what must be there.
        only: the one dialect that has to keep it; default: all.
        where: tables of which one must be there.
    """
    return _check(name, look, codes, needs, rule=look.__doc__, only=only, tables=where)


def _check(
    name: str,
    look: Look,
    codes: tuple[str, ...],
    needs: Need,
    *,
    rule: str | None,
    only: Dialect | None,
    tables: tuple[str, ...],
) -> Check:
    assert rule, f"{name}: the check's function needs a docstring: it is the rule"
    sentence = " ".join(rule.split("\n\n")[0].split())
    return Check(name, codes, sentence, look, needs, (only,) if only else tuple(DIALECTS.values()), tables)
