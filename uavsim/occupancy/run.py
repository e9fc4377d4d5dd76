"""Write the voxels of a dataset: for each town scan it, fit the shapes of moving objects, and label the samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from uavsim.access import Dataset, Sample, Scene
from uavsim.environment import replay_command
from uavsim.errors import InputError
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.occupancy.files import Files, Labelled, VoxelFormat
from uavsim.occupancy.grids import Grid, GridShape, on_ground, place_grid
from uavsim.occupancy.sample import label_sample
from uavsim.occupancy.shapes import Shapes, fit_shapes
from uavsim.occupancy.town import Town, scan_town
from uavsim.records.channels import agent_id
from uavsim.registry import pick


@dataclass(frozen=True, slots=True, eq=False)
class Labeller:
    """A labeller of one town's samples.

    Attributes:
        town: scan of the static town.
        shapes: shapes of the moving objects.
        shape: shape of the grids.
    """

    town: Town
    shapes: Shapes
    shape: GridShape

    @classmethod
    def of(cls, data: Dataset, town: str, shape: GridShape, *, scans: Sequence[Dataset], scan_folder: Path) -> Labeller:
        """Scan a town with datasets, and fit the shapes of the objects in the first one.

        Args:
            data: the dataset to label.
            town: the town.
            shape: shape of the grids.
            scans: further datasets of the town.
            scan_folder: folder of cached scans.

        Raises:
            DatasetError: the town has no images, or an image has no depth or mask.
        """
        shapes = fit_shapes(sample for scene in data if scene.town == town for sample in scene)
        return cls(scan_town([data, *scans], town, scan_folder), shapes, shape)

    def grid(self, sample: Sample, agent: str) -> Grid:
        """Return the grid of an agent, or of the ``swarm``, in a sample."""
        of = None if agent == "swarm" else agent
        return place_grid(self.shape, sample, ground_map_m=self.town.ground_map_m, of=of)

    def label(self, scene: Scene, number: int, agent: str) -> Labelled:
        """Return the voxels of sample ``number`` in the grid of an agent."""
        sample = scene.samples[number]

        def near(step: int) -> Grid | None:
            exists = 0 <= number + step < len(scene)
            return self.grid(scene.samples[number + step], agent) if exists else None

        voxels = label_sample(sample, self.grid(sample, agent), self.town, self.shapes)
        return Labelled(scene, sample, voxels, agent, near, partial(self._height_m, scene.samples[0], agent))

    def _height_m(self, sample: Sample, agent: str) -> float:
        """Return the height above ground of a camera, an agent's first camera, or the sample's first camera."""
        images = [i for i in sample.images if agent in {i.channel, agent_id(i.channel)}] or sample.images
        position_m = images[0].map_SE3_optical.translation_m
        return float(position_m[2] - on_ground(position_m, self.town.ground_map_m)[2])


def write_voxels(
    data: Dataset, out: Path, voxel_format: VoxelFormat, shape: GridShape, *, of: Sequence[str] = (),
    scans: Sequence[Dataset] = (), scenes: Sequence[str] = (), scan_folder: Path | None = None,
) -> Iterator[tuple[str, int]]:  # fmt: skip
    """Write the voxels of all samples; yields name and size in bytes of each written file.

    Args:
        data: the dataset.
        out: folder of the files.
        voxel_format: the format.
        shape: shape of the grids.
        of: agents or channels that own grids, see ``grids_of``.
        scans: further datasets of the same towns, for instance without traffic.
        scenes: names of scenes; default: all.
        scan_folder: folder of cached scans; default: ``scans`` in ``out``.

    Raises:
        InputError: no such scene, agent or channel; or a camera without depth or masks.
    """
    for name in scenes:
        pick(dict.fromkeys(data.scene_names), name, what=f"scene of {data.root}")
    chosen = [scene for scene in data if not scenes or scene.name in scenes]
    _refuse_blind_cameras([*chosen, *(scene for one in scans for scene in one)])
    result, written = ResultPath.open(out), list[tuple[str, str, list[str]]]()
    for town in dict.fromkeys(scene.town for scene in chosen):
        labeller = Labeller.of(data, town, shape, scans=scans, scan_folder=scan_folder or out / "scans")
        for scene in (scene for scene in chosen if scene.town == town):
            first = scene.samples[0]
            channels = [image.channel for image in first.images], [scan.channel for scan in first.lidars]
            for agent in grids_of(shape, cameras=channels[0], lidars=channels[1], of=of):
                names: list[str] = []
                for number in range(len(scene)):
                    files = voxel_format.files(labeller.label(scene, number, agent))
                    yield from _put(result, files)
                    names += files
                written.append((scene.name, agent, names))
    yield from _put(result, voxel_format.about(written))


def _refuse_blind_cameras(scenes: Sequence[Scene]) -> None:
    """Refuse scenes with cameras without depth or masks.

    Raises:
        InputError: a camera has none; the message names the command that records them.
    """
    for scene in scenes:
        for image in scene.samples[0].images:
            if lacking := [layer for layer in ("depth", "instance") if layer not in image.layers]:
                root = image.files.root
                raise InputError(
                    f"{root}: {image.channel} has no {lacking[0]}, which voxels need; "
                    f"record it with {replay_command(root, *lacking)}"
                )


def grids_of(shape: GridShape, *, cameras: Sequence[str], lidars: Sequence[str], of: Sequence[str] = ()) -> list[str]:
    """Return the owners of grids by the shape's frame: ``swarm``, agents, or channels of cameras or lidars.

    Args:
        shape: shape of the grids.
        cameras: channels of cameras.
        lidars: channels of lidars.
        of: agents, or channels of sensors of the frame; an agent stands for all of these sensors; () for the default.

    Raises:
        InputError: no such agent or channel, or no sensor of the frame.
    """
    sensors = {"camera": cameras, "lidar": lidars}.get(shape.frame)
    if sensors is None:
        known = {
            name: [name] for name in ("swarm" if shape.frame == "swarm" else None, *map(agent_id, cameras)) if name
        }
    else:
        known = {agent_id(channel): [c for c in sensors if agent_id(c) == agent_id(channel)] for channel in sensors}
        known |= {channel: [channel] for channel in sensors}
    if not known:
        raise InputError(f"the dataset has no {shape.frame} for this grid; choose another grid")
    if of:
        owner_kind = "agent" if sensors is None else f"agent or channel of a {shape.frame}"
        return list(dict.fromkeys(name for one in of for name in pick(known, one, what=owner_kind)))
    if shape.frame == "agent":
        return list(known)
    return ["swarm"] if sensors is None else list(sensors if shape.frame == "camera" else sensors[:1])


def _put(out: ResultPath, files: Files) -> Iterator[tuple[str, int]]:
    for name, content in files.items():
        write_whole(out / name, content)
        yield name, len(content)
