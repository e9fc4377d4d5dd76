"""Rule-based labels of images and samples: quality, degradations, causes of poor visibility, and collaboration partners."""
