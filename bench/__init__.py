"""Measurements, side by side, as ratios. Absolute times depend on the machine; ratios of one run do not."""
