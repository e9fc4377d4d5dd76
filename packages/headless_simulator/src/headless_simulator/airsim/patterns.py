"""Clients' regular expressions, matched with a time limit: backtracking is exponential even on short names.

The standard library's ``re`` cannot be interrupted and holds the interpreter meanwhile; ``regex`` can.
"""

from typing import Final

import regex

from headless_simulator.errors import CallRefused

MAX_PATTERN: Final = 500  # characters
MATCH_S: Final = 0.05  # of one name; a sensible pattern takes microseconds
_MOST_ANSWERS: Final = 20_000  # cached answers of a pattern, for clients that apply one repeatedly to a whole town


class Pattern:
    """A regular expression that matches whole names, case ignored.

    Args:
        text: the client's expression.

    Raises:
        CallRefused: the expression is invalid or too long.
    """

    def __init__(self, text: str) -> None:
        if len(text) > MAX_PATTERN:
            raise CallRefused(f"regular expression of {len(text)} characters is too long (at most {MAX_PATTERN})")
        self.text = text
        self._answers: dict[str, bool] = {}
        try:
            self._compiled = regex.compile(text, regex.IGNORECASE | regex.VERSION0)
        except (regex.error, RecursionError, OverflowError, MemoryError) as error:
            raise CallRefused(f"'{text[:80]}' is not a valid regular expression: {error}") from error

    def fits(self, name: str) -> bool:
        """Return whether the pattern matches the whole name.

        Raises:
            CallRefused: matching takes too long.
        """
        if (known := self._answers.get(name)) is not None:
            return known
        try:
            fits = self._compiled.fullmatch(name, timeout=MATCH_S) is not None
        except TimeoutError:
            raise CallRefused(
                f"'{self.text[:80]}' takes too long to match: nested repetitions are not supported"
            ) from None
        if len(self._answers) >= _MOST_ANSWERS:
            self._answers.clear()
        self._answers[name] = fits
        return fits
