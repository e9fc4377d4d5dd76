"""One place for the examples of all ``--help`` texts; a test parses every line as typer would."""

from typing import Final

EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "": (
        "uavsim generate --dataset smoke --town Town10HD --samples 2 --out out/first",
        "uavsim view out/first --save first.rrd",
        "uavsim doctor --dataset uav3d --simulator 127.0.0.1:2000",
    ),
    "generate": (
        "uavsim generate --dataset smoke --town Town10HD --scenes 0-1 --samples 5 --out out/demo",
        "uavsim generate --dataset uav3d --town Town03 --simulator 127.0.0.1:2000 --out out/uav3d",
        "uavsim generate --dataset smoke --out out/smoke --simulator mock --simulator mock",
        "uavsim generate --dataset uav3d-mini --out out/mini --dry-run --json",
    ),
    "regenerate": (
        "uavsim regenerate out/demo --scenes 0",
        "uavsim regenerate out/demo",
    ),
    "replay": (
        "uavsim replay out/demo --out out/demo-lidar --sensors +lidar,+depth",
        "uavsim replay out/demo --out out/demo-rain --weather hard_rain --scenes 0",
        "uavsim replay out/demo --out out/demo-less --hide 12 --hide bus",
        "uavsim replay out/demo --out out/demo-again --dry-run --json",
    ),
    "twins": (
        "uavsim twins out/demo --out out/demo-twins --weather night --occluders",
        "uavsim twins out/demo --out out/demo-twins --without bus --dry-run --json",
    ),
    "adopt": ("uavsim adopt out/videos --as-twin-of out/clip --out out/clip-twins",),
    "status": ("uavsim status out/demo", "uavsim status out/demo --json", "uavsim status out/demo --bill"),
    "plan": (
        "uavsim plan --dataset smoke --town Town10HD",
        "uavsim plan --dataset uav3d --town Town03 --scenes 0-9 --forecast",
        "uavsim plan --make-routes Town04 --rows 5 --columns 5",
    ),
    "check": ("uavsim check flight_plans town_configs", "uavsim check flight_plans/rigs/uav3d.yaml --json"),
    "schema": ("uavsim schema --out flight_plans/.schemas",),
    "annotate": ("uavsim annotate out/demo --range-m 80", "uavsim annotate out/demo --scenes scene_0000"),
    "convert": (
        "uavsim convert out/demo out/demo-uav3d --dialect uav3d",
        "uavsim convert out/demo-uav3d out/demo-strict --dialect strict --dry-run",
    ),
    "export": (
        "uavsim export out/demo out/demo-coco --format coco",
        "uavsim export out/clip out/cosmos --format cosmos --model transfer2.5",
        "uavsim export out/demo out/demo-kitti --format kitti --split uav_val --dry-run",
    ),
    "validate": ("uavsim validate out/demo", "uavsim validate out/demo --devkit --json report.json"),
    "view": ("uavsim view out/demo --save demo.rrd", "uavsim view out/demo --scene scene_0000 --web"),
    "video": (
        "uavsim video out/demo --out demo.mp4",
        "uavsim video out/demo --camera CAMERA_FRONT_id_0 --out demo.gif",
    ),
    "report": ("uavsim report out/demo --out report.html",),
    "publish": ('uavsim publish out/demo --out out/demo-pack --creator "My Lab"',),
    "verify": ("uavsim verify out/demo-pack", "uavsim verify out/demo-pack --json"),
    "reproduce": ("uavsim reproduce out/demo-pack/README.md --scenes 0",),
    "events": (
        "uavsim events out/demo --out out/demo-events",
        "uavsim events out/demo --out out/demo-events --twins out/demo-twins --json",
    ),
    "collaboration": ("uavsim collaboration out/demo --out out/demo-collaboration",),
    "questions": ("uavsim questions out/demo --out out/demo-questions --seed 1 --per-task 200",),
    "map": ("uavsim map Town10HD --out out/map",),
    "occupancy": (
        "uavsim occupancy out/demo --out out/voxels",
        "uavsim occupancy out/demo --out out/occ3d --format occ3d --of 0",
    ),
    "evaluate": (
        "uavsim evaluate nuscenes-detection --truth out/demo --results results.json",
        "uavsim evaluate swarm --truth out/demo --results results.json --html page.html",
    ),
    "airsim-settings": ("uavsim airsim-settings --dataset uav3d --town Town03 --out settings.json",),
    "calibrate": ("uavsim calibrate --simulator 127.0.0.1:2000:41451 --town Town03",),
    "conform": (
        "uavsim conform --simulator 127.0.0.1:2000 --airsim 127.0.0.1:41451 --out out/conform",
        "uavsim conform --simulator 127.0.0.1:2000 --against out/conform/answers.json --strict",
    ),
    "doctor": ("uavsim doctor --dataset uav3d --simulator 127.0.0.1:2000", "uavsim doctor --json"),
    "ui": ("uavsim ui", "uavsim ui --port 4300"),
    "deploy": ("uavsim deploy --pool uavsim --kind process",),
}


def epilog_of(command: str) -> str | None:
    """Return what ``--help`` shows below the options: blank lines part the examples, as typer's page wants it."""
    lines = EXAMPLES.get(command)
    return "\n\n".join(["Examples:", *lines]) if lines else None
