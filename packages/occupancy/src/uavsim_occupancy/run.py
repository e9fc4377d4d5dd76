"""All samples of a dataset into files of voxels: one town scanned, shapes fitted, samples labelled one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from uavsim.access import Dataset, Sample, Scene
from uavsim.files.whole import make_folders, write_whole
from uavsim.registry import pick
from uavsim_occupancy.files import Files, Labelled, VoxelFormat
from uavsim_occupancy.grids import Grid, GridShape, on_ground, place_grid
from uavsim_occupancy.sample import label_sample
from uavsim_occupancy.shapes import Shapes, fit_shapes
from uavsim_occupancy.town import Town, scan_town

__all__ = ["Labeller", "write_voxels"]


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
        names = {agent, agent.rpartition("_id_")[2]}
        own = [i for i in sample.images if names & {i.channel, i.channel.rpartition("_id_")[2]}] or sample.images
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
        of: agents or cameras whose grids are wanted; default: the swarm's, or every agent's where the frame is an agent's.
        scans: further datasets that show the same towns, without traffic for instance.
        scenes: names of scenes; default: all.
        files: of a sample, in place of the format's.
        kept: folder of scans; default: ``scans`` in ``out``.

    Raises:
        InputError: no such scene.
        DatasetError: no depth or masks.
    """
    for name in scenes:
        pick(dict.fromkeys(data.scene_names), name, what=f"scene of {data.root}")
    wanted = [scene for scene in data if not scenes or scene.name in scenes]
    written: list[tuple[str, str, list[str]]] = []
    for town in dict.fromkeys(scene.town for scene in wanted):
        labeller = Labeller.of(data, town, shape, scans=scans, kept=kept or out / "scans")
        for scene in (scene for scene in wanted if scene.town == town):
            for agent in of or _agents(scene, shape):
                names: list[str] = []
                for number in range(len(scene)):
                    made = (files or how.files)(labeller.label(scene, number, agent))
                    yield from _put(out, made)
                    names += made
                written.append((scene.name, agent, names))
    yield from _put(out, how.about(written))


def _agents(scene: Scene, shape: GridShape) -> list[str]:
    images = scene.samples[0].images
    if shape.frame == "swarm":
        return ["swarm"]
    if shape.frame == "camera":
        return [image.channel for image in images]
    if shape.frame == "lidar":
        return [scan.channel for scan in scene.samples[0].lidars][:1]
    return list(dict.fromkeys(image.channel.rpartition("_id_")[2] for image in images))


def _put(out: Path, files: Files) -> Iterator[tuple[str, int]]:
    for name, content in files.items():
        make_folders([(out / name).parent])
        write_whole(out / name, content)
        yield name, len(content)
