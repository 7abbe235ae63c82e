"""Several machines: models run in replicas on the nodes of a Ray cluster, and programs on all nodes.

The process that the user started keeps the plan, the responses and the store, as without a cluster, and is
the only one that writes: a lost node costs its current work, which is repeated elsewhere, and no record can
be stored twice. Nodes get single calls of a model, or single programs with their tests.
"""
