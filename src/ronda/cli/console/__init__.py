"""`ronda console`: the client of the control socket."""
