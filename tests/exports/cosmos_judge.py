"""Ask Cosmos' own contracts about clips: cosmos_judge.py CLIENT CLIP...; prints the errors by clip and model as JSON.

CLIENT is ``PythonAPI/examples/nvidia/cosmos/client`` of carla-simulator/carla, branch ue58-dev; ffprobe counts the frames.
"""

import json
import sys
from pathlib import Path
from typing import Any


def judged(folder: Path) -> dict[str, list[str]]:
    """Return the errors of a clip, and of a job of each model with its rate and cameras."""
    from carla_cosmos.clip import Clip  # type: ignore[import-not-found]
    from carla_cosmos.contracts import BUILTIN_CONTRACTS  # type: ignore[import-not-found]

    clip = Clip.load(folder)
    found = {"clip": list(clip.validate())}
    for model in BUILTIN_CONTRACTS.values():
        views = [view for view in clip.manifest.camera_names if not model.views or view in model.views]
        if not views or clip.manifest.fps not in model.fps.source:
            continue
        groups = [[view] for view in views] if model.max_views == 1 else [views]
        found[model.id] = [error for group in groups for error in job_errors(model, clip.manifest, group)]
    return found


def job_errors(model: Any, manifest: Any, views: list[str]) -> list[str]:
    """Return the errors of a job with all controls of the clip; for 101 frames including the map."""
    from carla_cosmos.contracts import ControlInput, JobRequest, validate_request

    controls = {}
    for control in model.controls:
        kind = "hdmap_bbox" if control.name == "wsm" else control.name
        if control.name == "wsm" and manifest.frames % 101:
            continue
        if all(manifest.video(kind, view) for view in views):
            controls[control.name] = ControlInput(blobs=dict.fromkeys(views, "blob"), weight=0.5)
        elif control.server_derivable:
            controls[control.name] = ControlInput(derive=True)
    blobs = dict.fromkeys(views, "blob")
    masks = blobs if model.maskable_controls else {}
    job = JobRequest(
        backend=model.id, prompt="a town", resolution="720", views=views, controls=controls, rgb=blobs, masks=masks
    )
    errors: list[str] = validate_request(model, job, manifest)
    return errors


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    sys.stdout.write(json.dumps({Path(name).name: judged(Path(name)) for name in sys.argv[2:]}) + "\n")
