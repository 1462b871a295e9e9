"""All policies on all problems: what a newcomer reads to choose one."""
