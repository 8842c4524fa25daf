"""The parts of `experiments.shield_calibration`."""
