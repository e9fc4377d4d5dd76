"""CARLA's recorder: files in its binary format, questions about them, and replay."""
