"""Plain text for the terminal: no text from a dataset acts as an escape sequence or as markup.

File names, reasons and categories come from datasets that anybody may have written. ``Screen`` is the only console of
uavsim: it prints strings as they are, control characters spelled out; colour is given by ``line`` alone.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Collection, Sequence
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
    """Return a screen for tables; wide enough to fold nothing when the output is no terminal."""
    screen = Screen()
    return screen if screen.is_terminal else Screen(width=_WIDE)


def first_rows(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Collection[str]) -> Table:
    """Make a table of the first rows; in a narrow terminal long words are folded, never cut.

    Args:
        title: above it.
        columns: their heads.
        rows: a cell for each column; the caption says how many are left out.
        numbers: the columns that are set to the right.
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
        """Make a string printable; rich asks for it wherever a string is shown."""
        choices |= {"markup": False, "emoji": False, "highlight": False}
        return super().render_str(visible(text), **choices)

    def print(self, *objects: Any, **choices: Any) -> None:
        """Print; after a failed write, print nothing more and let the work go on."""
        choices.setdefault("soft_wrap", not any(isinstance(thing, Table) for thing in objects))
        _whatever_happens(lambda: super(Screen, self).print(*objects, **choices), self.mute)

    def on_broken_pipe(self) -> None:
        """Go on after the reader closed the pipe: rich would end the process here."""
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
    """Format a number of things: ``1 scene``, ``2 scenes``, ``1,200 images``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def histogram_blocks(values: Sequence[float]) -> str:
    """Return a histogram of ten bins from the least to the greatest value, one character per bin."""
    low, range_ = min(values), max(values) - min(values)
    found = [0] * 10
    for value in values:
        found[min(int((value - low) / range_ * 10), 9) if range_ else 0] += 1
    return "".join(_BLOCKS[-(-number * (len(_BLOCKS) - 1) // max(found))] for number in found)


def counts(**numbers: int) -> str:
    """Format several numbers of things: ``1 scene, 5 samples``."""
    return ", ".join(count(number, what.replace("_", " ")) for what, number in numbers.items())


def write_out(text: str) -> None:
    """Write text for machines to standard output; ``main`` checks that the write succeeded."""
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


def _whatever_happens(work: Callable[[], None], otherwise: Callable[[], None]) -> None:
    try:
        work()
    except (OSError, ValueError):  # a full device, a closed stream
        otherwise()
