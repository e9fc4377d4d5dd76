"""``uavsim publish``: a dataset as a folder to upload: Parquet, tar shards, dataset card, Croissant metadata, hashes."""

from uavsim.exports.publish.pack import PublishRequest, publish
from uavsim.exports.publish.verify import verify

__all__ = ["PublishRequest", "publish", "verify"]
