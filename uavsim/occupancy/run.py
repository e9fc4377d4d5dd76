"""All samples of a dataset into files of voxels: one town scanned, shapes fitted, samples labelled one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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

__all__ = ["Labeller", "grids_of", "write_voxels"]


@dataclass(frozen=True, slots=True, eq=False)
class Labeller:
    """Labels of one town's samples, from its scan and the shapes of its movers.

    Attributes:
        town: what stands.
        shapes: of what moves.
        shape: of the grids.
    """

    town: Town
    shapes: Shapes
    shape: GridShape

    @classmethod
    def of(cls, data: Dataset, town: str, shape: GridShape, *, scans: Sequence[Dataset], kept: Path) -> Labeller:
        """Scan a town by a dataset and further ones, and fit the shapes of the dataset's movers.

        Args:
            data: that is labelled.
            town: of its scenes.
            shape: of the grids.
            scans: further datasets that show the town.
            kept: folder in which scans of scenes are kept.

        Raises:
            DatasetError: no depth or masks.
        """
        own = [scene for scene in data if scene.town == town]
        shapes = fit_shapes(sample for scene in own for sample in scene)
        return cls(scan_town([data, *scans], town, kept), shapes, shape)

    def grid(self, sample: Sample, agent: str) -> Grid:
        """Return where an agent's grid is in a sample; ``swarm`` for the swarm's."""
        of = None if agent == "swarm" else agent
        return place_grid(self.shape, sample, ground_map_m=self.town.ground_map_m, of=of)

    def label(self, scene: Scene, number: int, agent: str) -> Labelled:
        """Return the voxels of a sample of a scene in the grid of an agent."""
        sample = scene.samples[number]

        def near(step: int) -> Grid | None:
            there = 0 <= number + step < len(scene)
            return self.grid(scene.samples[number + step], agent) if there else None

        voxels = label_sample(sample, self.grid(sample, agent), self.town, self.shapes)
        return Labelled(scene, sample, voxels, agent, near, partial(self._height_m, scene.samples[0], agent))

    def _height_m(self, sample: Sample, agent: str) -> float:
        """Return how high an agent's, a camera's or the first drone's camera is above the ground."""
        own = [i for i in sample.images if agent in {i.channel, agent_id(i.channel)}] or sample.images
        place = own[0].map_SE3_optical.translation_m
        return float(place[2] - on_ground(place, self.town.ground_map_m)[2])


def write_voxels(
    data: Dataset, out: Path, how: VoxelFormat, shape: GridShape, *, of: Sequence[str] = (), scans: Sequence[Dataset] = (),
    scenes: Sequence[str] = (), files: Callable[[Labelled], Files] | None = None, kept: Path | None = None,
) -> Iterator[tuple[str, int]]:  # fmt: skip
    """Write the voxels of all samples; yields the name and size of each file when it is written.

    Args:
        data: the dataset.
        out: folder for the files.
        how: the format.
        shape: of the grids.
        of: agents or channels whose grids are wanted, see ``grids_of``.
        scans: further datasets that show the same towns, without traffic for instance.
        scenes: names of scenes; default: all.
        files: of a sample, in place of the format's.
        kept: folder of scans; default: ``scans`` in ``out``.

    Raises:
        InputError: no such scene, agent or channel; or a camera without depth or masks.
    """
    for name in scenes:
        pick(dict.fromkeys(data.scene_names), name, what=f"scene of {data.root}")
    wanted = [scene for scene in data if not scenes or scene.name in scenes]
    _refuse_blind_cameras([*wanted, *(scene for one in scans for scene in one)])
    result, written = ResultPath.open(out), list[tuple[str, str, list[str]]]()
    for town in dict.fromkeys(scene.town for scene in wanted):
        labeller = Labeller.of(data, town, shape, scans=scans, kept=kept or out / "scans")
        for scene in (scene for scene in wanted if scene.town == town):
            first = scene.samples[0]
            channels = [image.channel for image in first.images], [scan.channel for scan in first.lidars]
            for agent in grids_of(shape, cameras=channels[0], lidars=channels[1], of=of):
                names: list[str] = []
                for number in range(len(scene)):
                    made = (files or how.files)(labeller.label(scene, number, agent))
                    yield from _put(result, made)
                    names += made
                written.append((scene.name, agent, names))
    yield from _put(result, how.about(written))


def _refuse_blind_cameras(scenes: Sequence[Scene]) -> None:
    """Refuse scenes some of whose cameras took no depth or no masks.

    Raises:
        InputError: the message has the command that records them.
    """
    for scene in scenes:
        for image in scene.samples[0].images:
            if lacking := [layer for layer in ("depth", "instance") if layer not in image.layers]:
                root = image.files.root
                raise InputError(
                    f"{root}: {image.channel} has no {lacking[0]}, of which voxels are made; {replay_command(root, *lacking)} "
                    "records it"
                )


def grids_of(shape: GridShape, *, cameras: Sequence[str], lidars: Sequence[str], of: Sequence[str] = ()) -> list[str]:
    """Return whose grids are made: ``swarm``, agents, or channels of cameras or lidars, by the shape's frame.

    Args:
        shape: of the grids.
        cameras: channels.
        lidars: channels.
        of: agents, or channels of such sensors; an agent has a grid for each of its cameras or lidars.

    Raises:
        InputError: there is no such agent or channel, or no sensor in whose frame the grid is.
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
        raise InputError(f"a grid in the frame of a {shape.frame} needs one: name another grid")
    if of:
        what = "agent" if sensors is None else f"agent or channel of a {shape.frame}"
        return list(dict.fromkeys(name for one in of for name in pick(known, one, what=what)))
    if shape.frame == "agent":
        return list(known)
    return ["swarm"] if sensors is None else list(sensors if shape.frame == "camera" else sensors[:1])


def _put(out: ResultPath, files: Files) -> Iterator[tuple[str, int]]:
    for name, content in files.items():
        write_whole(out / name, content)
        yield name, len(content)
