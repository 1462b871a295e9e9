"""What runs experiments: chosen by name, dealt to Spark's tasks, stored, judged, drawn, reported.

`journal.py` holds what was done and says which rows belong together, `missing.py` how far an experiment is
and what is left to do, `job.py` does it on Spark. `outcome.py` judges and draws a table, `report.py` makes
the page of it and puts it all into the folder.
"""
