"""Execution reasoning (Liu et al. 2024): does the model know the output of this code?"""
