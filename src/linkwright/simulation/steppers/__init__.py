"""Steppers: integrators of ẏ = F(t, y) behind one protocol (`stepper.Stepper`)."""
