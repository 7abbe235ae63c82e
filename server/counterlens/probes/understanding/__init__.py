"""Robustness and sensitivity (Nguyen et al. 2024): do answers follow what code does?"""
