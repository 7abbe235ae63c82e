"""Robustness and sensitivity (Nguyen et al. 2024, paper 004): do answers follow what code does?"""
