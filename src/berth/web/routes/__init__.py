"""The routes of the service, one module for what belongs together."""

from berth.web.routes import about, jobs, plans, problems

ROUTERS = (about.router, problems.router, plans.router, jobs.jobs, jobs.runs)
