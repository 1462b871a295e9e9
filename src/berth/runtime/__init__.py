"""Running an application on Spark with every operator on its planned node."""
