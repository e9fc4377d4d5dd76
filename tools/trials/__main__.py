"""Run a long trial by its name, or list them: ``scripts/trial [NAME [ARGUMENTS]]``.

A trial is a module of this folder. Its ``main`` prints its results and returns 0 only without failures; ``scripts/trial NAME
--help`` prints its options.
"""

import ast
import difflib
import importlib
import sys
from pathlib import Path


def summaries() -> dict[str, str]:
    """Return the first line of each trial's docstring, by the trial's name."""
    files = sorted(file for file in Path(__file__).parent.glob("*.py") if not file.name.startswith("__"))
    docstrings = {file.stem: ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "" for file in files}
    return {name.replace("_", "-"): text.partition("\n")[0] for name, text in docstrings.items()}


def main() -> int:
    """Run the trial, or list all."""
    trials, words = summaries(), sys.argv[1:]
    if not words or words[0] in {"-h", "--help"}:
        lines = [f"{name:18} {summary}\n" for name, summary in trials.items()]
        sys.stdout.write((__doc__ or "").partition("\n")[0] + "\n\n" + "".join(lines))
        return 0
    if words[0] not in trials:
        near = "".join(f"; did you mean {name}?" for name in difflib.get_close_matches(words[0], trials, n=1))
        sys.exit(f"error: no trial {words[0]}{near or '; scripts/trial lists them'}")
    sys.argv = [f"scripts/trial {words[0]}", *words[1:]]
    return int(importlib.import_module(f"tools.trials.{words[0].replace('-', '_')}").main() or 0)


if __name__ == "__main__":
    sys.exit(main())
