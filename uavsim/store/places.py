"""Open the place that ``--out`` names: a folder, or an fsspec URL."""

from __future__ import annotations

from pathlib import Path

from uavsim.errors import InputError
from uavsim.store.local import LocalOutput
from uavsim.store.output import Output

__all__ = ["open_output"]


def open_output(out: str, *, scratch: Path | None = None) -> Output:
    """Return the output behind a folder's path or a URL; touches nothing.

    Args:
        out: folder, ``file://`` URL or an object store's (``s3://bucket/prefix``).
        scratch: local folder for scenes in flight when ``out`` is an object store.

    Raises:
        InputError: empty, or a URL that cannot be used.
    """
    if not out.strip():
        raise InputError("--out is empty; name a folder or an object store's URL")
    if "://" not in out:
        return LocalOutput(Path(out).expanduser().absolute())
    scheme, _, rest = out.partition("://")
    if scheme == "file":
        return LocalOutput(Path("/" + rest.lstrip("/")))
    from uavsim.store.storage import ObjectOutput

    return ObjectOutput.open(out, scratch=scratch)
