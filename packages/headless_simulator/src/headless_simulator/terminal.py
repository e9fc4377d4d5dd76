"""Lines on the standard error stream, for the people who started the simulator."""

import sys
import traceback
from typing import Final

PREFIX: Final = "headless-simulator: "


def note(text: str) -> None:
    """Write one line."""
    sys.stderr.write(f"{PREFIX}{text}\n")
    sys.stderr.flush()


def note_bug(where: str, bug: BaseException) -> None:
    """Write an error of our own with its traceback, all in one piece."""
    note(f"internal error in {where}\n{''.join(traceback.format_exception(bug)).rstrip()}")
