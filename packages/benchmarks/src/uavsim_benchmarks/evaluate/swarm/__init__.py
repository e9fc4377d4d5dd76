"""What a swarm finds, and what each of its drones is worth."""
