"""The table of commands: group, function, help and examples of each; functions are imported when they run."""

from dataclasses import dataclass, field
from typing import Any, Final

from uavsim.registry import Registry

__all__ = ["COMMANDS", "Command"]


@dataclass(frozen=True, slots=True)
class Command:
    """One command of ``uavsim``; a package adds one by an entry point of the group ``uavsim.commands``.

    Attributes:
        group: the panel of ``uavsim --help`` that lists it.
        function: ``package.module:function`` with typer's annotations; imported when the command runs.
        help: its text in ``--help``; the overview shows the first clause.
        examples: command lines below its options.
        settings: click's context settings.
    """

    group: str
    function: str
    help: str
    examples: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def epilog(self) -> str | None:
        """Return the text below the options: blank lines part the examples, as typer's page requires."""
        return "\n\n".join(["Examples:", *self.examples]) if self.examples else None


OVERVIEW: Final = Command(
    "",
    "",
    "YAML in, labelled multi-drone datasets out.",
    examples=(
        "uavsim generate --dataset smoke --town Town10HD --samples 2 --out out/first",
        "uavsim view out/first --save first.rrd",
        "uavsim doctor --dataset uav3d --simulator 127.0.0.1:2000",
    ),
)
_OWN: Final = {
    "init": Command(
        "Make",
        "uavsim.cli.init:init",
        "Write commented YAML files to start from into flight_plans/ of the current folder.",
        examples=(
            "uavsim init",
            "uavsim init --dataset harbour --formation wedge --routes Town03",
        ),
    ),
    "plan": Command(
        "Make",
        "uavsim.cli.configs:plan",
        "Show what would fly, as a table or as an image; or make a town's routes.",
        examples=(
            "uavsim plan --dataset smoke --town Town10HD",
            "uavsim plan --dataset uav3d --town Town03 --scenes 0-9 --forecast",
            "uavsim plan --make-routes Town04 --rows 5 --columns 5",
        ),
    ),
    "preview": Command(
        "Make",
        "uavsim.cli.preview:preview",
        "Fly one sample of one scene and draw its images, boxes and masks, and the swarm on the map, as one PNG.",
        examples=(
            "uavsim preview --dataset smoke",
            "uavsim preview --dataset mine.yaml --scene 3 --formation vee --png vee.png",
        ),
    ),
    "generate": Command(
        "Make",
        "uavsim.cli.generate:generate",
        "Fly a dataset; an interrupted run continues.",
        examples=(
            "uavsim generate --dataset smoke --town Town10HD --scenes 0-1 --samples 5 --out out/demo",
            "uavsim generate --dataset uav3d --town Town03 --simulator 127.0.0.1:2000 --out out/uav3d",
            "uavsim generate --dataset smoke --out out/smoke --simulator mock --simulator mock",
            "uavsim generate --dataset uav3d-mini --out out/mini --dry-run --json",
        ),
    ),
    "regenerate": Command(
        "Make",
        "uavsim.cli.generate:regenerate",
        "Fly scenes of a dataset again, with its recorded settings.",
        examples=(
            "uavsim regenerate out/demo --scenes 0",
            "uavsim regenerate out/demo --failed",
        ),
    ),
    "replay": Command(
        "Make",
        "uavsim.cli.replay:replay",
        "Render the recorded scenes of a dataset again with changes; an interrupted run continues.",
        examples=(
            "uavsim replay out/demo --out out/demo-lidar --sensors +lidar,+depth",
            "uavsim replay out/demo --out out/demo-rain --weather hard_rain --scenes 0",
            "uavsim replay out/demo --out out/demo-less --hide 12 --hide bus",
            "uavsim replay out/demo --out out/demo-again --dry-run --json",
        ),
    ),
    "twins": Command(
        "Make",
        "uavsim.cli.replay:twins",
        "Render the same instants without an occluder, in another weather or skin; by default the `twins:` of its YAML.",
        examples=(
            "uavsim twins out/demo --out out/demo-twins --weather night --occluders",
            "uavsim twins out/demo --out out/demo-twins --without bus --dry-run --json",
        ),
    ),
    "adopt": Command(
        "Make",
        "uavsim.cli.export:adopt",
        "Import converted videos as an image twin of a dataset, and check for each object whether its label still fits.",
        examples=("uavsim adopt out/videos --as-twin-of out/clip --out out/clip-twins",),
    ),
    "status": Command(
        "Make",
        "uavsim.cli.status:status",
        "Show the scenes that are done, flying, quarantined and missing, and the time left. Changes nothing.",
        examples=(
            "uavsim status out/demo",
            "uavsim status out/demo --json",
            "uavsim status out/demo --bill",
            "uavsim status out/demo --failed",
        ),
    ),
    "deploy": Command(
        "Make",
        "uavsim.cli.prefect_server:deploy",
        "Register every flow as a deployment for workers (PREFECT_API_URL names the server).",
        examples=("uavsim deploy --pool uavsim --kind process",),
    ),
    "view": Command(
        "Look",
        "uavsim.cli.look:view",
        "Look at a dataset: town, drones, cameras, boxes, tracks, masks and lidars by keyframe, in Rerun's viewer.",
        examples=(
            "uavsim view out/demo --save demo.rrd",
            "uavsim view out/demo --scene scene_0000 --web",
        ),
    ),
    "video": Command(
        "Look",
        "uavsim.cli.export:video",
        "Make a video of chosen cameras as a grid, with boxes.",
        examples=(
            "uavsim video out/demo --out demo.mp4",
            "uavsim video out/demo --camera CAMERA_FRONT_id_0 --out demo.gif",
        ),
    ),
    "report": Command(
        "Look",
        "uavsim.cli.look:report",
        "Write a page about a dataset: images, maps, histograms, scenes, findings. One file, no network, no JavaScript.",
        examples=("uavsim report out/demo --out report.html",),
    ),
    "ui": Command(
        "Look",
        "uavsim.cli.prefect_server:ui",
        "Serve Prefect's pages of your current and past runs until Ctrl-C; runs report to it while it is running.",
        examples=(
            "uavsim ui",
            "uavsim ui --port 4300",
        ),
    ),
    "check": Command(
        "Check",
        "uavsim.cli.configs:check",
        "Check YAML files and the files they refer to, without a simulator.",
        examples=(
            "uavsim check flight_plans town_configs",
            "uavsim check flight_plans/rigs/uav3d.yaml --json",
        ),
    ),
    "doctor": Command(
        "Check",
        "uavsim.cli.probe:doctor",
        "Check clients, servers, maps, pace, disk and clock with a short flight per town; exit code 3 if a check fails.",
        examples=(
            "uavsim doctor --dataset uav3d --simulator 127.0.0.1:2000",
            "uavsim doctor --json",
        ),
    ),
    "conform": Command(
        "Check",
        "uavsim.cli.probe:conform",
        "Measure a simulator's behaviour, and compare it with the headless simulator's.",
        examples=(
            "uavsim conform --simulator 127.0.0.1:2000 --airsim 127.0.0.1:41451 --out out/conform",
            "uavsim conform --simulator 127.0.0.1:2000 --against out/conform/answers.json --strict",
        ),
    ),
    "validate": Command(
        "Check",
        "uavsim.cli.validate:validate",
        "Check a dataset on disk; exit code 4 if a check fails.",
        examples=(
            "uavsim validate out/demo",
            "uavsim validate out/demo --devkit --json report.json",
        ),
    ),
    "list": Command(
        "Check",
        "uavsim.cli.names:list_names",
        "List the names for options, one line each: formations, rigs, weathers, datasets, towns, exports, metrics.",
        examples=(
            "uavsim list",
            "uavsim list formations",
            "uavsim list metrics --json",
        ),
    ),
    "schema": Command(
        "Check",
        "uavsim.cli.configs:schema",
        "Write the JSON Schemas of all YAML files, for editors.",
        examples=("uavsim schema --out flight_plans/.schemas",),
    ),
    "annotate": Command(
        "Label",
        "uavsim.cli.dataset:annotate_again",
        "Label recordings again, without a simulator; the dataset's tables are replaced.",
        examples=(
            "uavsim annotate out/demo --range-m 80",
            "uavsim annotate out/demo --scenes scene_0000",
        ),
    ),
    "occupancy": Command(
        "Label",
        "uavsim.cli.occupancy:occupancy",
        "Label voxels: static, moving or free, and which agents see them.",
        examples=(
            "uavsim occupancy out/demo --out out/voxels",
            "uavsim occupancy out/demo --out out/occ3d --format occ3d --of 0",
        ),
    ),
    "select": Command(
        "Share",
        "uavsim.cli.subsets:select",
        "Make a dataset of some scenes of a finished one: files are hard-linked, tokens stay.",
        examples=(
            "uavsim select out/demo --scenes 0-4 --out out/five",
            "uavsim select out/demo --class bus --min-visibility 3 --within-m 60 --out out/buses",
        ),
    ),
    "merge": Command(
        "Share",
        "uavsim.cli.subsets:merge",
        "Merge finished datasets without common scene numbers.",
        examples=("uavsim merge out/town03 out/town05 --out out/both",),
    ),
    "split": Command(
        "Share",
        "uavsim.cli.subsets:split",
        "Make a copy of a finished dataset with other splits.",
        examples=("uavsim split out/demo --assign uav_val=1 --rest uav_train --out out/demo-split",),
    ),
    "diff": Command(
        "Share",
        "uavsim.cli.subsets:diff",
        "Compare two finished datasets scene by scene; exit code 4 if they differ.",
        examples=("uavsim diff out/demo out/demo-again",),
    ),
    "convert": Command(
        "Share",
        "uavsim.cli.dataset:convert_dialect",
        "Write a dataset in another dialect, both ways without loss; image files are hard-linked.",
        examples=(
            "uavsim convert out/demo out/demo-uav3d --dialect uav3d",
            "uavsim convert out/demo-uav3d out/demo-strict --dialect strict --dry-run",
        ),
    ),
    "export": Command(
        "Share",
        "uavsim.cli.export:export_format",
        "Write a dataset in another format: COCO, OPV2V, Griffin, COLMAP, Cosmos, ROS 2 bags and others.",
        examples=(
            "uavsim export out/demo out/demo-coco --format coco",
            "uavsim export out/clip out/cosmos --format cosmos --model transfer2.5",
            "uavsim export out/demo out/demo-opv2v --format opv2v --split uav_val --dry-run",
        ),
    ),
    "map": Command(
        "Share",
        "uavsim.cli.map:make_map",
        "Make a vector map of a town's roads from OpenDRIVE: nuScenes' map expansion, GeoJSON, lane graphs.",
        examples=("uavsim map Town10HD --out out/map",),
    ),
    "publish": Command(
        "Share",
        "uavsim.cli.publish:publish",
        "Pack a dataset for upload and streaming: Parquet, tar files, card, Croissant, hashes.",
        examples=('uavsim publish out/demo --out out/demo-pack --creator "My Lab"',),
    ),
    "verify": Command(
        "Share",
        "uavsim.cli.publish:verify",
        "Check a download against its list of hashes: no file is missing, changed or added; exit code 4 otherwise.",
        examples=(
            "uavsim verify out/demo-pack",
            "uavsim verify out/demo-pack --json",
        ),
    ),
    "reproduce": Command(
        "Share",
        "uavsim.cli.publish:reproduce",
        "Make scenes again from the card alone, and compare hashes; exit code 4 if one differs.",
        examples=("uavsim reproduce out/demo-pack/README.md --scenes 0",),
    ),
    "mock-sim": Command(
        "Simulate",
        "uavsim.cli.simulator:mock_sim",
        "Serve CARLA's and AirSim's real protocols with no GPU.",
        settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
    ),
    "airsim-settings": Command(
        "Simulate",
        "uavsim.cli.simulator:airsim_settings",
        "Write AirSim's settings.json for a formation and rig.",
        examples=("uavsim airsim-settings --dataset uav3d --town Town03 --out settings.json",),
    ),
    "calibrate": Command(
        "Simulate",
        "uavsim.cli.probe:calibrate",
        "Measure the position of AirSim's origin in CARLA's town.",
        examples=("uavsim calibrate --simulator 127.0.0.1:2000:41451 --town Town03",),
    ),
}
COMMANDS: Final[Registry[Command]] = Registry("commands", _OWN, expects=Command)
"""Built-in commands, then those of installed packages."""
