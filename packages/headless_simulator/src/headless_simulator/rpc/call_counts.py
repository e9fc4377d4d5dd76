"""Counters of client calls by name, for the final report."""

import threading
from collections import Counter
from typing import Final

MOST_NAMES: Final = 1000  # that are counted
NAME_CHARS: Final = 200


class CallCounts:
    """Counters of calls.

    Attributes:
        served: calls of known methods.
        unknown: calls of unknown methods.
        without_effect: accepted calls without effect.
        internal_errors: calls that raised an unexpected exception.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.served: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.without_effect: Counter[str] = Counter()
        self.internal_errors: Counter[str] = Counter()

    def add(self, counter: Counter[str], name: str) -> None:
        """Count one call."""
        short_name = name[:NAME_CHARS]
        with self._lock:
            if short_name in counter or len(counter) < MOST_NAMES:
                counter[short_name] += 1

    def report(self) -> list[str]:
        """Return one phrase per counter that is not empty, except for served calls."""
        found = (
            ("unknown RPCs:", self.unknown),
            ("RPCs without effect:", self.without_effect),
            ("internal errors in RPCs:", self.internal_errors),
        )
        with self._lock:
            return [
                f"{label} " + ", ".join(f"{name} x{n}" for name, n in sorted(counted.items()))
                for label, counted in found
                if counted
            ]
