"""Labels by rule of a data set's images and samples: quality, degradations, what hinders objects, who helps whom, and why."""
