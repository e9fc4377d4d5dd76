"""Rule-based labels of hand-made samples and a small dataset."""
