"""The dataset card: README.md with the Hub's YAML header, columns, statements and the certificate."""

import json
from collections.abc import Mapping, Sequence

import numpy as np

from uavsim.access import HEADLESS
from uavsim.escape import markdown_text
from uavsim.exports.publish.certificate import json_block
from uavsim.exports.publish.croissant import PackedFile
from uavsim.exports.publish.parquet import BOX_FIELDS, FIELDS
from uavsim.exports.publish.statements import Facts, Statements
from uavsim.exports.publish.verify import vouch
from uavsim.terminal import histogram_blocks
from uavsim.typing import JsonDict


def card(
    facts: Facts,
    fields: Statements,
    *,
    licence: str,
    splits: Mapping[str, Sequence[PackedFile]],
    certificate: JsonDict | None,
    shards: bool,
    contents: str,
) -> str:
    """Return the card as Markdown.

    Args:
        facts: counts of the dataset.
        fields: the responsible-AI fields.
        licence: name of the licence on the Hub.
        splits: Parquet files by split.
        certificate: the certificate, if there is one.
        shards: whether the pack holds tar files.
        contents: hash of the list of all other files.
    """
    return "\n".join(
        [
            *_header(facts, licence=licence, splits=splits),
            f"# {markdown_text(facts.name)}",
            "",
            *([f"> **{markdown_text(facts.origin)}**", ""] if facts.origin else []),
            markdown_text(fields.description.removeprefix(facts.origin).strip()),
            "",
            *_use(facts, list(splits), shards=shards, contents=contents),
            *_columns(),
            *_drawn(facts.drawn),
            "## Uses and limitations",
            "",
            *(
                f"**{title}.** {markdown_text(text)}\n"
                for title, text in {
                    "Uses": fields.uses,
                    "Limitations": fields.limitations,
                    "Biases": fields.biases,
                    "Personal information": fields.personal_information,
                    "Social impact": fields.social_impact,
                    "Made by": " ".join(text for _, text in fields.generated_by),
                }.items()
            ),
            *_certificate(certificate),
        ]
    )


def _header(facts: Facts, *, licence: str, splits: Mapping[str, Sequence[PackedFile]]) -> list[str]:
    rows = facts.images
    size = next((name for most, name in _SIZES if rows < most), "100M<n<1B")
    lines = [
        "---",
        f"license: {licence}",
        f"pretty_name: {json.dumps(facts.name, ensure_ascii=False)}",
        "task_categories:",
        "- object-detection",
    ]
    lines += ["- image-segmentation"] if facts.masks else []
    lines += ["tags:", "- nuscenes-format"]
    lines += ["- synthetic", "- uav", "- multi-agent"] if facts.simulated else []
    lines += [f"- {HEADLESS.replace(' ', '-')}", "- test-data"] if facts.headless else []
    lines += ["- carla"] if any(name.startswith("CARLA") for name in facts.simulators) else []
    lines += ["size_categories:", f"- {size}", "configs:", "- config_name: default", "  data_files:"]
    for split in splits:
        lines += [f"  - split: {split}", f"    path: data/{split}-*.parquet"]
    return [*lines, "---", ""]


_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10**7, "1M<n<10M"))


def _use(facts: Facts, splits: list[str], *, shards: bool, contents: str) -> list[str]:
    lines = [
        "## Use",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'data = load_dataset("PATH_OR_NAME", split="{splits[0]}")  # a row is one camera image of one sample',
        "```",
        "",
    ]
    if shards:
        lines += [
            "As a nuScenes folder, for the official devkit:",
            "",
            "```sh",
            "mkdir dataset && for shard in shards/*.tar; do tar -xf $shard -C dataset; done",
            "```",
            "",
            f'Then `NuScenes("{facts.version}", dataroot="dataset")`. `shards/index.csv` lists the tar file of each file.',
            "",
        ]
    return [*lines, "`uavsim verify .` or `sha256sum -c SHA256SUMS` checks a download.", "", vouch(contents), ""]


def _columns() -> list[str]:
    lines = ["## Columns", "", "| column | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {text} |" for name, (_, text) in FIELDS.items()]
    lines += [f"| `objects.{name}` | {text} |" for name, (_, text) in BOX_FIELDS.items()]
    return [*lines, ""]


def _drawn(drawn: Mapping[str, Sequence[float]]) -> list[str]:
    """Return a table of the random numbers of all scenes, each with a histogram of ten bins."""
    if not drawn:
        return []
    lines = [
        "## Random numbers of scenes",
        "",
        "| number | scenes | least | median | greatest | histogram |",
        "|---|---|---|---|---|---|",
    ]
    for key, values in sorted(drawn.items()):
        low, middle, high = np.quantile(values, [0.0, 0.5, 1.0])
        lines.append(
            f"| {markdown_text(key)} | {len(values)} | {low:.4g} | {middle:.4g} | {high:.4g} | {histogram_blocks(values)} |"
        )
    return [*lines, ""]


def _certificate(certificate: JsonDict | None) -> list[str]:
    if certificate is None:
        return ["## Certificate", "", "None: the ledger of the run that made this dataset is missing.", ""]
    return [
        "## Certificate",
        "",
        "`uavsim reproduce README.md --scenes 0` makes a scene again from this block, and compares the hashes.",
        "",
        json_block(certificate),
        "",
    ]
