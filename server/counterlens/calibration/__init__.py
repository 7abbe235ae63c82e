"""Calibration of a model's confidences: nodes observed in code that is right, and a map fitted on them."""
