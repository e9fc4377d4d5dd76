"""The names of a scene's files when it was flown again: the same as ever, but for the mark of its generation."""

from dataclasses import replace

from uavsim.dataset.fragment import Fragment
from uavsim.files.names import generation_name


def in_generation(fragment: Fragment, generation: int) -> Fragment:
    """Return the rows with the file names of a generation; those of 0 are as they are."""
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
