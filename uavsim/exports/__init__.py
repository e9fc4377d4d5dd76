"""Exports of a dataset: other formats, videos, packs to upload; and import of converted clips."""
