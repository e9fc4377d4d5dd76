"""Hold questions of `uavsim questions` against AirCopBench's own code: every quality check of its generators, and its scorer.

    scripts/trial questions QUESTIONS.json --checkout AIRCOPBENCH

QUESTIONS.json is what `uavsim questions` wrote, AIRCOPBENCH a checkout of its repository. Its modules want clients of language
models when they are imported; here they get empty ones, and no network is used. Of every module below VQA_Generation that
has one, `evaluate_question_quality` must call each question EXCELLENT with no issue, and `check_option_diversity` must pass
its options. `AirCopBench_evaluation/evaluation.py` must give all right answers 1.0 in every task and category, answers that
are always A what they are worth, and must read each letter out of plain answers. Ends with 0 only if all holds.
"""

import argparse
import importlib.util
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

from uavsim_benchmarks.evaluate.aircopbench.scores import CATEGORIES
from uavsim_benchmarks.questions.checks import check_questions
from uavsim_benchmarks.questions.items import TASKS

_CLIENTS = ("openai", "PIL", "requests", "tqdm", "dashscope", "pandas", "dotenv")


def main() -> int:
    """Run all checks, and print what each says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--checkout", type=Path, required=True, help="of AirCopBench's repository")
    options = parser.parse_args()
    content = json.loads(options.questions.read_text("utf-8"))
    questions = content["results"]
    scorer = options.checkout / "AirCopBench_evaluation" / "evaluation.py"
    if not scorer.is_file():
        sys.exit(f"{options.checkout}: is no checkout of AirCopBench: {scorer} is missing")
    sys.modules.update({name: MagicMock() for name in _CLIENTS if importlib.util.find_spec(name) is None})
    faults = [
        *_quality_faults(options.checkout, questions),
        *_scorer_faults(_module(scorer), content["dataset"], questions),
    ]
    report = check_questions(questions, {task.name: task.needs for task in TASKS})
    for name, task in report["tasks"].items():
        print(f"{name}: {task['questions']} questions, {task.get('blind', {})}")
    print(f"right answers {report['positions']}; our own checks: {len(report['faults'])} faults")
    for fault in faults:
        print(f"FAULT: {fault}")
    return 4 if faults or report["faults"] else 0


def _quality_faults(checkout: Path, questions: list[dict[str, Any]]) -> Iterator[str]:
    checked = 0
    for path in sorted((checkout / "VQA_Generation").rglob("*.py")):
        text = path.read_text("utf-8")
        if "def evaluate_question_quality" not in text:
            continue
        module = _module(path)
        found = Counter(module.evaluate_question_quality(dict(q))["quality"] for q in questions)
        issues = sum(bool(module.evaluate_question_quality(dict(q))["issues"]) for q in questions)
        alike = 0
        if hasattr(module, "check_option_diversity"):
            alike = sum(not module.check_option_diversity(q["options"])[0] for q in questions)
        print(f"{path.name}: {dict(found)}, with issues {issues}, options alike {alike}")
        checked += 1
        if set(found) != {"EXCELLENT"} or issues or alike:
            yield f"{path.name} does not accept all questions"
    if not checked:
        yield "no module has a quality check"


def _scorer_faults(scorer: Any, dataset: str, questions: list[dict[str, Any]]) -> Iterator[str]:
    rows = [
        {"dataset": dataset, "question_type": q["question_type"], "correct_answer": q["correct_answer"],
         "predicted_answer": q["correct_answer"]} for q in questions
    ]  # fmt: skip
    of_all, by_task, by_category, *_ = scorer.aggregate_metrics(rows, [dataset])
    named = {name for names in CATEGORIES.values() for name in names}
    print(f"scorer, all right: {of_all}, {len(by_task)} tasks, {by_category}")
    if set(of_all.values()) != {1.0} or set(by_category.values()) != {1.0} or not set(by_task) <= named:
        yield f"the scorer does not give all right answers 1.0 in its own tasks: {by_task}"
    always_a = [row | {"predicted_answer": "A"} for row in rows]
    reported = scorer.aggregate_metrics(always_a, [dataset])[0][dataset]
    print(f"scorer, always A: {reported:.4f}")
    if reported != sum(row["correct_answer"] == "A" for row in rows) / len(rows):
        yield "the scorer counts other answers than are there"
    engine = scorer.GPTInference()
    texts = ("{0}", "({0})", "Answer: {0}", "{0}.")
    read = [engine.extract_answer(text.format(letter)) == letter for letter in "ABCD" for text in texts]
    message = engine.build_messages(questions[0]["uav_paths"], questions[0]["question"], questions[0]["options"])
    if not all(read) or len(message) != 1 + len(questions[0]["uav_paths"]):
        yield "the scorer does not read plain answers, or takes other images than a question names"


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", path.stem), path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
