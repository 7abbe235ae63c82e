"""The dependences that a model infers, prompted or measured by its expectations."""
