"""Several machines: models answer in replicas on the nodes of a Ray cluster, and programs run on all of them.

The process that the user started keeps the plan, the answers and the store, as it does without a cluster, and
is the only one that writes: a lost node costs its current work, which is repeated elsewhere, and no record
can be stored twice. Nodes receive a call of a model, or one program with its tests.
"""

from counterlens.evaluation.engines.ray.engine import RayEngine

__all__ = ["RayEngine"]
