"""The store of the watch: targets and owners come in, states and history come out.

One schema for SQLite and PostgreSQL. Everything is synchronous and takes `now`; a
daemon calls it from one thread of its own. `store.Store` opens it as a whole.
"""
