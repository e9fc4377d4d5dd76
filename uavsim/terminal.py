"""Plain text for the terminal: no text from a dataset acts as an escape sequence or as markup.

File names, reasons and categories come from untrusted datasets. ``Screen`` is the only console of uavsim: it prints strings
literally, with control characters escaped; only ``line`` adds colour.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Collection, Sequence
from typing import IO, Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from uavsim.escape import visible

_quiet: Final = threading.Event()


def line(*parts: str | tuple[str, object]) -> Text:
    """Make a line of plain parts and of (style, text)."""
    made = Text()
    for part in parts:
        style, text = part if isinstance(part, tuple) else ("", part)
        made.append(visible(text), style=style or None)
    return made


_WIDE: Final = 150
_FIRST_ROWS: Final = 10
_BLOCKS: Final = " ▁▂▃▄▅▆▇█"


def columns_screen() -> Screen:
    """Return a screen for tables; without a terminal, its width avoids folding."""
    screen = Screen()
    return screen if screen.is_terminal else Screen(width=_WIDE)


def first_rows(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Collection[str]) -> Table:
    """Make a table of the first rows; in a narrow terminal long words are folded, never cut.

    Args:
        title: title of the table.
        columns: column headings.
        rows: cells by row; the caption counts omitted rows.
        numbers: right-aligned columns.
    """
    more = len(rows) - _FIRST_ROWS
    caption = f"and {more:,} more rows; --json has all" if more > 0 else None
    table = Table(title=title, caption=caption, box=None, pad_edge=False, title_justify="left", caption_justify="left")
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    for row in rows[:_FIRST_ROWS]:
        table.add_row(*row)
    return table


class Screen(Console):
    """A console that prints strings literally and survives a closed pipe."""

    def __init__(
        self,
        *,
        stderr: bool = False,
        width: int | None = None,
        quiet: bool = False,
        file: IO[str] | None = None,
        errors: bool = False,
    ) -> None:
        quiet = quiet or (_quiet.is_set() and not errors)
        super().__init__(stderr=stderr, width=width, quiet=quiet, file=file, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **choices: Any) -> Text:
        """Make a string printable; rich calls this for every string."""
        choices |= {"markup": False, "emoji": False, "highlight": False}
        return super().render_str(visible(text), **choices)

    def print(self, *objects: Any, **choices: Any) -> None:
        """Print; after a failed write, stop printing without an error."""
        choices.setdefault("soft_wrap", not any(isinstance(item, Table) for item in objects))
        try:
            super().print(*objects, **choices)
        except (OSError, ValueError):  # a full device, a closed stream
            self.mute()

    def on_broken_pipe(self) -> None:
        """Ignore a closed pipe; rich would end the process."""
        self.mute()

    def mute(self) -> None:
        """Print nothing from now on."""
        self.quiet = True


def be_quiet() -> None:
    """Make consoles created from now on print only errors."""
    _quiet.set()


def duration(seconds: float) -> str:
    """Format a time: ``40 s``, ``12 min``, ``3.4 h``."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def size(total_bytes: float) -> str:
    """Format a size: ``24 kB``, ``12 MB``, ``3.4 GB``."""
    scale, unit, digits = (
        (1e3, "kB", 0) if total_bytes < 1e6 else (1e6, "MB", 0) if total_bytes < 1e9 else (1e9, "GB", 1)
    )
    return f"{total_bytes / scale:.{digits}f} {unit}"


def count(number: int, what: str) -> str:
    """Format a count: ``1 scene``, ``2 scenes``, ``1,200 images``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def histogram_blocks(values: Sequence[float]) -> str:
    """Return a histogram of ten bins from the least to the greatest value, one character per bin."""
    low, range_ = min(values), max(values) - min(values)
    found = [0] * 10
    for value in values:
        found[min(int((value - low) / range_ * 10), 9) if range_ else 0] += 1
    return "".join(_BLOCKS[-(-number * (len(_BLOCKS) - 1) // max(found))] for number in found)


def counts(**numbers: int) -> str:
    """Format several counts: ``1 scene, 5 samples``."""
    return ", ".join(count(number, what.replace("_", " ")) for what, number in numbers.items())


def write_out(text: str) -> None:
    """Write machine-readable text to standard output; ``main`` checks that the write succeeded."""
    if sys.stdout is not None and not sys.stdout.closed:
        sys.stdout.write(text + "\n")


def open_standard_streams() -> None:
    """Open ``/dev/null`` for each closed standard stream; otherwise the next opened file would get its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)
            stream: IO[str] = os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False)
            setattr(sys, name, stream)
