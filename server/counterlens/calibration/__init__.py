"""Calibration of a model's confidences: nodes observed on code that is right, and a map fitted on them."""
