"""Steps of fixed length, compiled whole, and many trajectories of them at once."""
