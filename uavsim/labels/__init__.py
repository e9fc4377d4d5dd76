"""Labels by rule of a dataset's images and samples: quality, degradations, what hinders objects, who helps whom, and why."""
