"""Spark's settings for solving: the work is in Python, and a task is one processor's."""

SETTINGS = {
    # libraries below must not start threads of their own
    "spark.executorEnv.OMP_NUM_THREADS": "1",
    "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
    "spark.executorEnv.MKL_NUM_THREADS": "1",
    # problems may be large, and answers should flow
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    # the driver has little to do: its second compiler would take more of a small machine than it gives back
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1",
}
