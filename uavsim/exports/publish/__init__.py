"""``uavsim publish``: a dataset as a folder that is used from where it lies: Parquet, tar shards, card, Croissant, hashes."""

from uavsim.exports.publish.pack import PublishRequest, publish
from uavsim.exports.publish.verify import verify

__all__ = ["PublishRequest", "publish", "verify"]
