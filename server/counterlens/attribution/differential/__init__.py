"""Differential execution: does a program do the same as the original on the same inputs?"""
