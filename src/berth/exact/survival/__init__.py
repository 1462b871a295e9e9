"""Plans that survive losses: what is left of a problem (`left`), and the best failovers (`failovers`)."""
