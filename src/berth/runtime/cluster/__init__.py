"""A cluster of named nodes on this machine: a master of Spark, a worker for each node, and a keeper over all.

Nothing is imported here: a keeper, which imports this package too, stays small.
"""
