"""The control loop over a running application: look, plan again, move when it is worth it, remember."""
