"""The module in the page on dialects is installed and converts in both directions."""

import re
from pathlib import Path

from tests.dataset_factory import files_of
from tests.plugins import install_plugin, uavsim_with
from uavsim.dataset.tables import read_rows

PAGE = Path(__file__).parents[2] / "docs/how-to-add-a-dialect.md"


def test_the_example_of_the_page_converts_there_and_back(strict: Path, tmp_path: Path) -> None:
    (source,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    site = install_plugin(
        tmp_path, "example", group="uavsim.dialects", adds={"underside": "example:UNDERSIDE"}, source=source
    )

    uavsim_with(site, "convert", str(strict), str(tmp_path / "there"), "--dialect", "underside")
    uavsim_with(site, "convert", str(tmp_path / "there"), str(tmp_path / "back"), "--dialect", "strict")

    box, was = (read_rows(root / "v1.0-mini/sample_annotation.json")[0] for root in (tmp_path / "there", strict))
    assert box["translation"][2] == was["translation"][2] - 0.5 * was["size"][2]
    before, after = files_of(strict), files_of(tmp_path / "back")
    assert set(before) == set(after)
    assert [n for n in before if before[n] != after[n] and "sample_annotation" not in n] == []
