"""Execution reasoning (Liu et al. 2024): does the model know what this code gives?"""
