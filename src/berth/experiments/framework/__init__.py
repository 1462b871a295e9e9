"""What runs experiments: chosen by name, dealt to Spark's tasks, stored, judged, drawn, reported.

`choice.py` finds experiments, `identity.py` says which rows belong together, `state.py` how far each is.
`tasks.py` deals runs to tasks, `runner.py` does them in the executors' Python, `job.py` all of them on Spark,
`driver.py` those that need a Spark of their own; `tally.py` counts them. `journal.py` holds what was done,
`stored.py` is the folder around it. `outcome.py` judges and draws a table, `judges.py` many at once;
`about.py` says what an experiment is about, `style.py` is how figures look, `provenance.py` where that was,
`report.py` with `parts.py` and `page_style.py` is the page, and `showing.py` puts it all into the folder.
"""
