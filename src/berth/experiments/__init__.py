"""The papers' tables and figures, as experiments that run on Spark.

`experiment.py` says what an experiment is, `registry.py` lists them. The packages named after the papers'
systems hold the experiments themselves: what is run, what the paper claims, and how the figure looks.
"""
