"""The service: what a workspace holds over REST and as a page. Only `berth serve` imports it."""
