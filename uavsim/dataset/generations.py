"""File names of re-flown scenes, marked with their generation."""

from dataclasses import replace

from uavsim.dataset.fragment import Fragment
from uavsim.files.names import generation_name


def in_generation(fragment: Fragment, generation: int) -> Fragment:
    """Return the fragment with the file names of a generation; generation 0 has no mark."""
    if generation == 0:
        return fragment
    rows = {
        table: [
            row | {"filename": generation_name(row["filename"], generation)} if "filename" in row else row
            for row in all_rows
        ]
        for table, all_rows in fragment.rows.items()
    }
    return replace(fragment, rows=rows)
