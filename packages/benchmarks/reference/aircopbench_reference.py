"""Score AirCopBench answers with its own, unmodified ``evaluation.py``; prints one JSON object.

    PYTHON aircopbench_reference.py CHECKOUT CASES

CHECKOUT is a folder of https://github.com/zhajirong/AirCopBench. CASES is {"texts": [...], "responses": [[{"dataset",
"question_type", "correct_answer", "predicted_answer"}, ...], ...]}. Stubs replace the client
of a language model and the image library, which scoring does not need.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import types
from pathlib import Path
from unittest import mock


def main() -> int:
    """Print the parsed letters and the accuracies of each set of responses."""
    openai, image = types.ModuleType("openai"), types.ModuleType("PIL")
    vars(openai)["AzureOpenAI"] = vars(image)["Image"] = mock.MagicMock()
    sys.modules |= {"openai": openai, "PIL": image}
    sys.path.insert(0, str(Path(sys.argv[1]) / "AirCopBench_evaluation"))
    with contextlib.redirect_stdout(sys.stderr):
        evaluation = importlib.import_module("evaluation")
        cases = json.loads(Path(sys.argv[2]).read_text())
        with mock.patch("random.choice", return_value="?"):
            letters = [evaluation.engine.extract_answer(text) for text in cases["texts"]]
        scores = []
        for responses in cases["responses"]:
            names = sorted({row["dataset"] for row in responses})
            by_dataset, by_task, by_category, *_ = evaluation.aggregate_metrics(responses, names)
            scores.append(
                {
                    "accuracy": evaluation.compute_accuracy(responses),
                    "by_dataset": by_dataset,
                    "by_task": by_task,
                    "by_category": by_category,
                }
            )
    json.dump({"letters": letters, "scores": scores}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
