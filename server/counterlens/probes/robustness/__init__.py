"""Robustness and sensitivity (Nguyen et al. 2024): does what a model says of code follow what code does?"""
