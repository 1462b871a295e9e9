"""The papers' tables and figures, one small file for each experiment, run on Spark.

`experiment.py` says what an experiment is, `registry.py` lists them. The packages named after the papers'
systems hold the experiments themselves: what is run, what the paper claims, and how the figure looks.
"""
