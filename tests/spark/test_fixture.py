"""The session that all Spark tests share."""

import threading

from berth.spark import SparkSession, spark_session


def test_commands_in_this_process_use_the_shared_session(spark: SparkSession) -> None:
    """The one builder gives the session that is there, in every thread, and leaves it running."""
    with spark_session("local[1]", settings={"spark.sql.shuffle.partitions": "7"}) as same:
        assert same is spark
    assert spark.range(3).count() == 3
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    found = []

    def elsewhere() -> None:
        with spark_session() as session:
            found.append(session.range(4).count())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [4]
    assert SparkSession.getActiveSession() is spark
