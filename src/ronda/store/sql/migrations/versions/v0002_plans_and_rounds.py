"""Services with the results of their tasks, and what rounds found."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Add them; no row that is there is rewritten, however many there are."""
    _plans()
    _rounds()


def _word(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, server_default="")


def _plans() -> None:
    op.create_table(
        "service",
        sa.Column("target_id", ID, primary_key=True, autoincrement=False),
        *map(_word, ("description", "type", "version", "uuid")),
    )
    op.create_table(
        "task_result",
        sa.Column("target_id", ID, primary_key=True, autoincrement=False),
        sa.Column("task", sa.Text, primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("output", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )


def _rounds() -> None:
    op.add_column("schedule", sa.Column("was_due", sa.Double))
    for column in (
        _word("starter"),
        _word("words"),
        sa.Column("stopped_at", sa.Double),
        sa.Column("window", sa.Double, nullable=False, server_default="0"),
    ):
        op.add_column("round", column)
    op.create_table(
        "round_result",
        sa.Column("round_id", ID, primary_key=True, autoincrement=False),
        sa.Column("target_id", ID, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
