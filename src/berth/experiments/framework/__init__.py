"""What runs experiments: chosen by name, dealt to Spark's tasks, stored, judged, drawn, reported.

`choice.py` finds experiments, `identity.py` says which rows belong together, `tasks.py` deals runs to tasks,
`runner.py` does them in the executors' Python, `job.py` does them all on Spark and `tally.py` counts them,
`stored.py` is the folder of results, `outcome.py` judges and draws a table, `style.py` is how figures look,
`provenance.py` where all this happened, `report.py` with `parts.py` and `page_style.py` the page.
"""
