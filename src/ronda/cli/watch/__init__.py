"""The commands over what is watched: they need the store, and no daemon."""
