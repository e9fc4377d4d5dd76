"""CARLA's recorder: files in its binary format, queries and replay."""
