"""True equations, their arrangements and spellings, single misprints, and what the checker says of them."""
