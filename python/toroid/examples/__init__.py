"""Programs to start from, in JAX."""
