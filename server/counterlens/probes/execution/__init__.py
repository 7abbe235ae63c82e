"""Execution reasoning (Liu et al. 2024, paper 002): does the model know what this code gives?"""
