"""Robustness and sensitivity (Nguyen et al. 2024): do a model's answers follow the behaviour of code?"""
