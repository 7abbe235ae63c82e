"""Which dependences does a model infer: asked for them, or seen in how its expectations move?"""
