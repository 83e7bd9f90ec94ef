"""All tables, and the operator who is always there."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create them in an empty database."""
    _owners()
    _targets()
    _results()
    _work()
    _notices()
    # The first of all, so that it has the number that `schema.OPERATOR` says.
    op.execute("INSERT INTO owner (name, added_at) VALUES ('operator', 0)")


def _partial(name: str, *columns: str, where: str) -> sa.Index:
    only = sa.text(where)
    return sa.Index(name, *columns, postgresql_where=only, sqlite_where=only)


def _owners() -> None:
    op.create_table(
        "owner",
        sa.Column("id", ID, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("contact", sa.Text, nullable=False, server_default=""),
        sa.Column("callback", sa.Text, nullable=False, server_default=""),
        sa.Column("token_hash", sa.Text, nullable=False, server_default=""),
        sa.Column("added_at", sa.Double, nullable=False),
        sa.Column(
            "notices_on", sa.Boolean, nullable=False, server_default=sa.text("true")
        ),
        sa.Column("failures", sa.Integer, nullable=False, server_default="0"),
        sa.Column("failing_since", sa.Double),
        sa.Column("next_notice_at", sa.Double, nullable=False, server_default="0"),
        sa.Column("reconciled_at", sa.Double, nullable=False, server_default="0"),
        sa.Column("reconcile_at", sa.Double, nullable=False, server_default="0"),
        sa.Column("reconciled_to", ID),
        sa.Column("reconciled_parts", sa.Integer, nullable=False, server_default="0"),
        sqlite_autoincrement=True,
    )


def _targets() -> None:
    op.create_table(
        "server",
        sa.Column("id", ID, primary_key=True),
        sa.Column("address", sa.Text, nullable=False, unique=True),
        sa.Column("due_at", sa.Double),
        sa.Column("asked_at", sa.Double, nullable=False, server_default="0"),
        sa.Column("next_at", sa.Double, nullable=False, server_default="0"),
        sa.Column("holder", ID),
        sa.Column(
            "inherited", sa.Boolean, nullable=False, server_default=sa.text("false")
        ),
        sa.Index(
            "server_due",
            "due_at",
            postgresql_where=sa.text("holder IS NULL"),
            sqlite_where=sa.text("holder IS NULL"),
        ),
        postgresql_with={"fillfactor": 80},
    )
    op.create_table(
        "host",
        sa.Column("id", ID, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("server_id", ID, sa.ForeignKey("server.id"), nullable=False),
        sa.Column("asked_at", sa.Double, nullable=False, server_default="0"),
        sa.Column("next_at", sa.Double, nullable=False, server_default="0"),
        sa.Column("gap", sa.Double, nullable=False, server_default="0"),
        sa.Column("rests_until", sa.Double, nullable=False, server_default="0"),
        sa.Index("host_server", "server_id"),
        postgresql_with={"fillfactor": 80},
    )
    odd_reason = "reason NOT IN ('', 'http_200')"
    op.create_table(
        "target",
        sa.Column("id", ID, primary_key=True),
        sa.Column("key", sa.BigInteger, nullable=False, unique=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False, server_default="url"),
        sa.Column("scheme", sa.Text, nullable=False),
        sa.Column("host_id", ID, sa.ForeignKey("host.id"), nullable=False),
        sa.Column("state", sa.Text, nullable=False, server_default="unknown"),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.Column("message", sa.Text, nullable=False, server_default=""),
        sa.Column("added_at", sa.Double, nullable=False),
        sa.Column("last_change_at", sa.Double, nullable=False, server_default="0"),
        sa.Column(
            "enabled", sa.Boolean, nullable=False, server_default=sa.text("true")
        ),
        sa.Column("why_disabled", sa.Text, nullable=False, server_default=""),
        sa.Column("every", sa.Double),
        sa.Index("target_host", "host_id", "id"),
        _partial("target_change", "last_change_at", "id", where="state <> 'unknown'"),
        _partial("target_state", "state", "id", where="state <> 'ok'"),
        _partial(
            "target_state_change",
            "state",
            "last_change_at",
            "id",
            where="state NOT IN ('ok', 'unknown')",
        ),
        _partial("target_reason", "reason", "id", where=odd_reason),
        _partial(
            "target_reason_change", "reason", "last_change_at", "id", where=odd_reason
        ),
        _partial(
            "target_scheme", "scheme", "id", where="scheme NOT IN ('http', 'https')"
        ),
        _partial("target_disabled", "id", where="NOT enabled"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "schedule",
        sa.Column("target_id", ID, primary_key=True, autoincrement=False),
        sa.Column("server_id", ID, nullable=False),
        sa.Column("next_due", sa.Double),
        sa.Column("last_check_at", sa.Double, nullable=False, server_default="0"),
        sa.Column("failures", sa.Integer, nullable=False, server_default="0"),
        sa.Column("repeats", sa.Integer, nullable=False, server_default="0"),
        sa.Column("flap", sa.Double, nullable=False, server_default="0"),
        sa.Column(
            "flapping", sa.Boolean, nullable=False, server_default=sa.text("false")
        ),
        sa.Column("last_result", ID),
        sa.Column("round_id", ID),
        sa.Index("schedule_due", "server_id", "next_due"),
        _partial("schedule_flapping", "target_id", where="flapping"),
        postgresql_with={"fillfactor": 80},
    )
    op.create_table(
        "watch",
        sa.Column("owner_id", ID, primary_key=True, autoincrement=False),
        sa.Column("target_id", ID, primary_key=True, autoincrement=False),
        sa.Column("added_at", sa.Double, nullable=False),
        sa.Column("spelling", sa.Text),
        sa.Column("acknowledged", sa.Text, nullable=False, server_default=""),
        sa.Index("watch_target", "target_id"),
        _partial(
            "watch_acknowledged", "owner_id", "target_id", where="acknowledged <> ''"
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "label",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("target_id", ID, primary_key=True, autoincrement=False),
        sa.Index("label_target", "target_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tally",
        sa.Column("owner_id", ID, primary_key=True, autoincrement=False),
        sa.Column("state", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )


def _results() -> None:
    op.create_table(
        "history",
        sa.Column("id", ID, primary_key=True),
        sa.Column("target_id", ID, nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("standing", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("status", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("seconds", sa.Double, nullable=False, server_default="0"),
        sa.Column("previous", ID),
        sa.Column("pause", sa.Integer),
        sa.Column("message", sa.Text, nullable=False, server_default=""),
        sa.Column("evidence", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "hour",
        sa.Column("hour", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("first_id", ID, nullable=False),
        sa.Column("last_id", ID, nullable=False),
    )


def _work() -> None:
    op.create_table(
        "request",
        sa.Column("id", ID, primary_key=True),
        sa.Column("server_id", ID, sa.ForeignKey("server.id"), nullable=False),
        sa.Column("target_id", ID, sa.ForeignKey("target.id"), nullable=False),
        sa.Column("visit", sa.LargeBinary, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Index("request_server", "server_id"),
        sa.Index("request_target", "target_id", unique=True),
    )
    op.create_table(
        "round",
        sa.Column("id", ID, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("started_at", sa.Double, nullable=False),
        sa.Column("ended_at", sa.Double),
        sa.Column("total", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("done", sa.BigInteger, nullable=False, server_default="0"),
        sa.Index("round_name", "name", "started_at", unique=True),
    )
    op.create_table(
        "robots",
        sa.Column("authority", sa.Text, primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_table(
        "process",
        sa.Column("id", ID, primary_key=True),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("started", sa.BigInteger, nullable=False),
        sa.Column("began_at", sa.Double, nullable=False),
        sa.Column("until", sa.Double, nullable=False),
        sa.Column("pool", sa.Integer, nullable=False, server_default="0"),
        sa.Column("active", sa.Integer, nullable=False, server_default="0"),
        sa.Column("queued", sa.Integer, nullable=False, server_default="0"),
        sa.Column("turn", sa.BigInteger, nullable=False, server_default="0"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "text_part",
        sa.Column("first", ID, primary_key=True, autoincrement=False),
        sa.Column("gram", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("places", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "fact",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )


def _notices() -> None:
    op.create_table(
        "notice",
        sa.Column("id", ID, primary_key=True),
        sa.Column("owner_id", ID, sa.ForeignKey("owner.id"), nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("was", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Index("notice_owner", "owner_id", "id"),
    )
    op.create_table(
        "batch",
        sa.Column(
            "owner_id",
            ID,
            sa.ForeignKey("owner.id"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("last_target", ID),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("holder", ID),
        sa.Column("held_until", sa.Double, nullable=False, server_default="0"),
    )
