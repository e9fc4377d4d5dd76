"""The commands of this package, as its entry points name them; importing this module imports none of their code."""

from typing import Final

from uavsim.cli.commands import Command

__all__ = ["COLLABORATION", "EVALUATE", "EVENTS", "QUESTIONS"]

EVENTS: Final = Command(
    "Label",
    "uavsim_benchmarks.commands.labels:events",
    "Label images and samples by rule: quality, degradations, what hinders objects, when to ask whom for what, and why.",
    examples=(
        "uavsim events out/demo --out out/demo-events",
        "uavsim events out/demo --out out/demo-events --twins out/demo-twins --json",
    ),
)
COLLABORATION: Final = Command(
    "Label",
    "uavsim_benchmarks.commands.labels:collaboration",
    "Say what each drone is worth for each object, exactly, over all subsets of the swarm; and who helps whom.",
    examples=("uavsim collaboration out/demo --out out/demo-collaboration",),
)
QUESTIONS: Final = Command(
    "Label",
    "uavsim_benchmarks.commands.labels:questions",
    "Write questions with four options in AirCopBench's files, with no language model, and a report of their quality.",
    examples=("uavsim questions out/demo --out out/demo-questions --seed 1 --per-task 200",),
)
EVALUATE: Final = Command(
    "Label",
    "uavsim_benchmarks.commands.evaluate:evaluate",
    "Score a result; nothing is written when it is refused.",
    examples=(
        "uavsim evaluate nuscenes-detection --truth out/demo --results results.json",
        "uavsim evaluate swarm --truth out/demo --results results.json --html page.html",
    ),
)
