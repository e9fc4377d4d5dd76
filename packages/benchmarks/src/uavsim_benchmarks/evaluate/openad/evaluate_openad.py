"""``uavsim evaluate openad``: score files in OpenAD's format."""

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import FloatArray, JsonDict
from uavsim_benchmarks.evaluate.openad.files import read_openad_scenes, read_openad_truth, read_similarity_table
from uavsim_benchmarks.evaluate.openad.scores import SIMILARITIES, OpenAdScores, score_openad
from uavsim_benchmarks.evaluate.outcome import Curve, EvaluationRequest, Outcome, Row, Table


def evaluate_openad(request: EvaluationRequest) -> Outcome:
    """Score open-vocabulary detections.

    Options: ``dimensions`` (2 or 3, default 3) and ``similarity=TABLE.json``, which replaces the text features of the files.

    Raises:
        InputError: the files are refused.
    """
    dimensions = request.count("dimensions", 3)
    if dimensions not in {2, 3}:
        raise InputError(f"--option dimensions={dimensions}: must be 2 or 3")
    table = request.path("similarity")
    truth = read_openad_truth(request.truth)
    scenes, trained = read_openad_scenes(
        request.results, truth, dimensions=dimensions, table=read_similarity_table(table) if table else None
    )
    scores = score_openad(scenes, dimensions=dimensions, mode=request.mode)
    summary: JsonDict = {"ap": scores.ap, "ar": scores.ar, "ate": scores.ate, "ase": scores.ase}
    summary |= {f"ar_{name}": value for name, value in scores.sub_ar.items()}
    summary |= {"objects": scores.objects, "scenes": len(scenes), "training_on": trained, "dimensions": dimensions}
    summary["by_threshold"] = {
        f"{position:g}": {
            f"{s:g}": dict(zip(("ap", "ar"), scores.table[position, s], strict=True)) for s in SIMILARITIES
        }
        for position in dict.fromkeys(position for position, _ in scores.table)
    }
    rows: list[Row] = [(f"{position:g}", s, ap, ar) for (position, s), (ap, ar) in scores.table.items()]
    name = "distance m" if dimensions == 3 else "IoU"
    return Outcome(
        "openad",
        request.mode,
        summary,
        ("ap", "ar", "ate", "ase", *(f"ar_{subset}" for subset in scores.sub_ar)),
        (Table("by threshold", (name, "similarity", "ap", "ar"), tuple(rows)),),
        tuple(
            Curve(f"{metric} by threshold", name, metric, _along(scores, number))
            for number, metric in enumerate(("AP", "AR"))
        ),
    )


def _along(scores: OpenAdScores, number: int) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return curves of AP (0) or AR (1) over position thresholds, one line for each similarity."""
    lines = {}
    for similarity in SIMILARITIES:
        points = [(position, pair[number]) for (position, level), pair in scores.table.items() if level == similarity]
        x, y = np.array(points, dtype=np.float64).T
        lines[f"similarity {similarity:g}"] = (x, y)
    return lines
