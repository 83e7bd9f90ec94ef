"""One module a step, run by Alembic in the order that they name."""
