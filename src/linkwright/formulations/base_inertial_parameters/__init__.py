"""Base parameters of a mechanism, and its equations of motion in them."""
