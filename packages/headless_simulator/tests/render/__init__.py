"""The renderer against a pinhole camera and geometry worked out on paper."""
