"""A dataset for other readers: their formats, videos, packs to upload; and clips that come back."""
