"""Score OpenAD cases with its own, unmodified code; prints one JSON list.

    .venv-judge/bin/python openad_reference.py CHECKOUT CASES

CHECKOUT is a folder of https://github.com/VDIGPKU/OpenAD. CASES is a JSON list of {"dimensions", "truth", "results"}: pickles
as its evaluation takes them. The evaluation is made for 2,000 scenes.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any


def main() -> int:
    """Print the result of their ``main`` for each case."""
    answers: list[dict[str, Any]] = []
    with contextlib.redirect_stdout(sys.stderr):
        for case in json.loads(Path(sys.argv[2]).read_text()):
            module = _module(Path(sys.argv[1]), f"online_{case['dimensions']}d")
            try:
                scores = module.main(dt_path=case["results"], gt_path=case["truth"])
                answers.append({name: float(value) for name, value in scores.items()})
            except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
                answers.append({"error": f"{type(error).__name__}: {error}"})
    json.dump(answers, sys.stdout)
    return 0


def _module(checkout: Path, name: str) -> Any:
    """Load one file: the package imports CLIP, which its evaluation does not need."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, checkout / "openad" / "evaluate" / f"{name}.py")
        if spec is None or spec.loader is None:
            raise SystemExit(f"{checkout}: no {name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


if __name__ == "__main__":
    sys.exit(main())
