"""The one exact algebra: quotients of polynomials, and prime fields with error bounds."""
