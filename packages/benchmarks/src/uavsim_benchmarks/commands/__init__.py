"""Commands of this package, named by its entry points; importing this module does not import their code."""

from typing import Final

from uavsim.cli.commands import Command

__all__ = ["COLLABORATION", "EVALUATE", "EVENTS", "QUESTIONS"]

EVENTS: Final = Command(
    "Label",
    "uavsim_benchmarks.commands.labels:events",
    "Label images and samples by rule: quality, degradations, causes of poor visibility, and requests for collaboration.",
    examples=(
        "uavsim events out/demo --out out/demo-events",
        "uavsim events out/demo --out out/demo-events --twins out/demo-twins --json",
    ),
)
COLLABORATION: Final = Command(
    "Label",
    "uavsim_benchmarks.commands.labels:collaboration",
    "Compute each drone's Shapley value for each object over all subsets of the swarm, and pairwise help.",
    examples=("uavsim collaboration out/demo --out out/demo-collaboration",),
)
QUESTIONS: Final = Command(
    "Label",
    "uavsim_benchmarks.commands.labels:questions",
    "Write questions with four options in AirCopBench's format, without a language model, and a report on their quality.",
    examples=("uavsim questions out/demo --out out/demo-questions --seed 1 --per-task 200",),
)
EVALUATE: Final = Command(
    "Label",
    "uavsim_benchmarks.commands.evaluate:evaluate",
    "Score a result file by a benchmark's own rules.",
    examples=(
        "uavsim evaluate nuscenes-detection --truth out/demo --results results.json",
        "uavsim evaluate swarm --truth out/demo --results results.json --html page.html",
    ),
)
