"""The one exact algebra: quotients of polynomials, and prime fields with chances of error."""
