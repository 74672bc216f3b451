"""Steps of fixed length, each compiled as a whole, and batches of trajectories made of them."""
