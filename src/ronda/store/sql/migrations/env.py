"""What Alembic runs: the steps, on the connection that `migrating` gives."""

from alembic import context

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"], version_table=attributes["version_table"]
)
context.run_migrations()
