"""The tables, one schema for SQLite and PostgreSQL.

Moments are epoch seconds. A column that changes at every check never stands beside one
that has an index: on PostgreSQL the row would be entered anew into every index of its
table. So a target's row changes with its verdict only, and what moves every time is in
`schedule` and `history`.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    text,
)

from ronda.store.sql.texts import Text

metadata = MetaData()

Id = BigInteger().with_variant(Integer, "sqlite")  # only so is it SQLite's own row id
Moment = Double  # epoch seconds

OPERATOR = 1  # the owner that is always there: whoever runs Ronda
EVERYBODY = 0  # in a tally: all targets, whosever they are
UNRESOLVED = "name:"  # before the host, in the place of an address not known yet


def _partial(name: str, *columns: str, where: str) -> Index:
    """An index of the few rows of which something is true: it costs the rest nothing.

    It is used by queries that say the same in the same words.
    """
    only = text(where)
    return Index(name, *columns, postgresql_where=only, sqlite_where=only)


# What nearly all targets are has no index of its own: along any other they are found at
# once.
ODD_STATE = "state <> 'ok'"
CHANGED_STATE = "state NOT IN ('ok', 'unknown')"
CHANGED = "state <> 'unknown'"  # and so it has a moment; it is never unknown again
ODD_REASON = "reason NOT IN ('', 'http_200')"
ODD_SCHEME = "scheme NOT IN ('http', 'https')"
DISABLED = "NOT enabled"
FLAPPING = "flapping"
ACKNOWLEDGED = "acknowledged <> ''"

owner = Table(
    "owner",
    metadata,
    Column("id", Id, primary_key=True),  # never used again
    Column("name", Text, nullable=False, unique=True),
    Column("contact", Text, nullable=False, server_default=""),
    Column("callback", Text, nullable=False, server_default=""),
    # SHA-256 of the token, in hex: whoever reads the database cannot speak for an
    # owner. It is also the key that notices are signed with.
    Column("token_hash", Text, nullable=False, server_default=""),
    Column("added_at", Moment, nullable=False),
    Column("notices_on", Boolean, nullable=False, server_default=text("true")),
    Column("failures", Integer, nullable=False, server_default="0"),  # in a row
    Column("failing_since", Moment),
    Column("next_notice_at", Moment, nullable=False, server_default="0"),
    # The full reconciliation: the last one, when the next is due (0: at once), and of
    # one that is under way the parts and the target that it has come to.
    Column("reconciled_at", Moment, nullable=False, server_default="0"),
    Column("reconcile_at", Moment, nullable=False, server_default="0"),
    Column("reconciled_to", Id),
    Column("reconciled_parts", Integer, nullable=False, server_default="0"),
    sqlite_autoincrement=True,
)

# An address, or a host whose address is not known: what a process claims as a whole.
server = Table(
    "server",
    metadata,
    Column("id", Id, primary_key=True),
    Column("address", Text, nullable=False, unique=True),
    # When it is to be claimed: at the first of its targets, but not before it may be
    # asked; None: nothing is due.
    Column("due_at", Moment),
    Column("asked_at", Moment, nullable=False, server_default="0"),
    Column("next_at", Moment, nullable=False, server_default="0"),  # not to be asked
    # The process that holds it. Ids of processes are never used again, so the id is
    # the fence: who is not named here may not write.
    Column("holder", Id),
    # Its last holder died: nobody knows when it asked last.
    Column("inherited", Boolean, nullable=False, server_default=text("false")),
    # Of free ones only: a claim need not step over what others hold. There is no index
    # of holders, for it would be written twice a claim, and read when somebody dies.
    Index(
        "server_due",
        "due_at",
        postgresql_where=text("holder IS NULL"),
        sqlite_where=text("holder IS NULL"),
    ),
    postgresql_with={"fillfactor": 80},
)

host = Table(
    "host",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("server_id", Id, ForeignKey("server.id"), nullable=False),
    Column("asked_at", Moment, nullable=False, server_default="0"),
    Column("next_at", Moment, nullable=False, server_default="0"),
    Column("gap", Double, nullable=False, server_default="0"),  # to which it had grown
    Column("rests_until", Moment, nullable=False, server_default="0"),
    Index("host_server", "server_id"),
    postgresql_with={"fillfactor": 80},
)

target = Table(
    "target",
    metadata,
    # Never used again: a late result must not meet another target, and the text index
    # goes by it.
    Column("id", Id, primary_key=True),
    Column("key", BigInteger, nullable=False, unique=True),  # 64 bits of a hash of url
    Column("url", Text, nullable=False),
    Column("kind", Text, nullable=False, server_default="url"),
    Column("scheme", Text, nullable=False),
    Column("host_id", Id, ForeignKey("host.id"), nullable=False),
    Column("state", Text, nullable=False, server_default="unknown"),
    Column("reason", Text, nullable=False, server_default=""),
    Column("message", Text, nullable=False, server_default=""),
    Column("added_at", Moment, nullable=False),
    Column("last_change_at", Moment, nullable=False, server_default="0"),
    Column("enabled", Boolean, nullable=False, server_default=text("true")),
    Column("why_disabled", Text, nullable=False, server_default=""),
    Column("every", Double),  # seconds between checks while it is ok; None: by rules
    # Each ends with the id, so that pages can go on where the last one ended.
    Index("target_host", "host_id", "id"),
    _partial("target_change", "last_change_at", "id", where=CHANGED),
    _partial("target_state", "state", "id", where=ODD_STATE),
    _partial(
        "target_state_change", "state", "last_change_at", "id", where=CHANGED_STATE
    ),
    _partial("target_reason", "reason", "id", where=ODD_REASON),
    _partial(
        "target_reason_change", "reason", "last_change_at", "id", where=ODD_REASON
    ),
    _partial("target_scheme", "scheme", "id", where=ODD_SCHEME),
    _partial("target_disabled", "id", where=DISABLED),
    sqlite_autoincrement=True,
)

# What is a target's own (schedule, watch, label and others) has no foreign key to it:
# PostgreSQL took 43 % of an import to look each up. Its rows come and go with it, and
# who adds or removes is alone (`locking.alone`); `ronda db check` looks at them all.

# When a target was checked, and when it is next: moves at every check.
schedule = Table(
    "schedule",
    metadata,
    Column("target_id", Id, primary_key=True, autoincrement=False),
    Column("server_id", Id, nullable=False),
    Column("next_due", Moment),  # None: not at all
    Column("last_check_at", Moment, nullable=False, server_default="0"),
    Column("failures", Integer, nullable=False, server_default="0"),  # in a row
    Column("repeats", Integer, nullable=False, server_default="0"),  # of its state
    Column("flap", Double, nullable=False, server_default="0"),
    Column("flapping", Boolean, nullable=False, server_default=text("false")),
    Column("last_result", Id),  # its newest row in history
    Column("round_id", Id),  # that it is checked for
    # When it would be due without its round: `next_due` is its place in that one.
    Column("was_due", Moment),
    Index("schedule_due", "server_id", "next_due"),
    _partial("schedule_flapping", "target_id", where=FLAPPING),
    # None of last_check_at: it took 40 % of the speed of the ledger (9,300 results/s to
    # 5,700 with SQLite, 21,000 to 9,800 with PostgreSQL). `checks.py` does without.
    postgresql_with={"fillfactor": 80},
)

# Every result, only ever added to at its end. It has no index beyond its number, for
# that would be written at a random place each time: a row names the one before it of
# the same target instead, and `hour` says which numbers an hour has. The newest of a
# target is the one that `schedule` names: a table of newest results would be written at
# a random place each time too (it took a third of the ledger's speed), so the evidence
# is here, of each result for as long as it is kept.
history = Table(
    "history",
    metadata,
    Column("id", Id, primary_key=True),
    Column("target_id", Id, nullable=False),
    Column("task", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("state", Text, nullable=False),  # what this check found
    Column("standing", Text, nullable=False),  # the target's state after it
    Column("reason", Text, nullable=False),
    Column("status", SmallInteger, nullable=False, server_default="0"),
    Column("seconds", Double, nullable=False, server_default="0"),
    Column("previous", Id),
    Column("pause", Integer),  # seconds to the next check, as planned; None: not known
    Column("message", Text, nullable=False, server_default=""),
    Column("evidence", LargeBinary, nullable=False),  # see `evidence`
)

hour = Table(
    "hour",
    metadata,
    Column("hour", Integer, primary_key=True, autoincrement=False),  # since the epoch
    Column("first_id", Id, nullable=False),
    Column("last_id", Id, nullable=False),
)

# How many targets of an owner are in a state: kept, for counting takes too long.
tally = Table(
    "tally",
    metadata,
    Column("owner_id", Id, primary_key=True, autoincrement=False),
    Column("state", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

# Who watches what. One URL is one target, however many watch it.
watch = Table(
    "watch",
    metadata,
    Column("owner_id", Id, primary_key=True, autoincrement=False),
    Column("target_id", Id, primary_key=True, autoincrement=False),
    Column("added_at", Moment, nullable=False),
    Column("spelling", Text),  # as the owner writes it, if not as we do
    Column("acknowledged", Text, nullable=False, server_default=""),  # the state
    Index("watch_target", "target_id"),
    _partial("watch_acknowledged", "owner_id", "target_id", where=ACKNOWLEDGED),
    sqlite_with_rowid=False,
)

label = Table(
    "label",
    metadata,
    Column("name", Text, primary_key=True),
    Column("target_id", Id, primary_key=True, autoincrement=False),
    Index("label_target", "target_id"),
    sqlite_with_rowid=False,
)

# What is known of a target that has a plan, beside its URL.
service = Table(
    "service",
    metadata,
    Column("target_id", Id, primary_key=True, autoincrement=False),
    Column("description", Text, nullable=False, server_default=""),
    Column("type", Text, nullable=False, server_default=""),  # WMS, WFS, …
    Column("version", Text, nullable=False, server_default=""),
    Column("uuid", Text, nullable=False, server_default=""),
)

# What each task of a plan found last; those of before are in `history`, packed.
task_result = Table(
    "task_result",
    metadata,
    Column("target_id", Id, primary_key=True, autoincrement=False),
    Column("task", Text, primary_key=True),
    Column("place", Integer, nullable=False),  # in the order of the plan
    Column("at", Moment, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("data", Text, nullable=False),
    Column("output", Text, nullable=False),
    sqlite_with_rowid=False,
)

# Visits under way that another process must carry on, for it holds their next server.
request = Table(
    "request",
    metadata,
    Column("id", Id, primary_key=True),
    Column("server_id", Id, ForeignKey("server.id"), nullable=False),
    Column("target_id", Id, ForeignKey("target.id"), nullable=False),
    Column("visit", LargeBinary, nullable=False),
    Column("at", Moment, nullable=False),
    Index("request_server", "server_id"),
    Index("request_target", "target_id", unique=True),  # one visit a target
)

round_ = Table(
    "round",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False),
    Column("started_at", Moment, nullable=False),
    Column("ended_at", Moment),
    Column("total", BigInteger, nullable=False, server_default="0"),
    Column("done", BigInteger, nullable=False, server_default="0"),
    Column("starter", Text, nullable=False, server_default=""),  # who began it
    Column("words", Text, nullable=False, server_default=""),  # which targets
    Column("stopped_at", Moment),  # None: it was not
    # Seconds over which it is spread.
    Column("window", Double, nullable=False, server_default="0"),
    Index("round_name", "name", "started_at", unique=True),
)

# What a round found: kept for as long as the round, though the target be removed.
round_result = Table(
    "round_result",
    metadata,
    Column("round_id", Id, primary_key=True, autoincrement=False),
    Column("target_id", Id, primary_key=True, autoincrement=False),
    Column("at", Moment, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("message", Text, nullable=False),
    sqlite_with_rowid=False,
)

robots = Table(
    "robots",
    metadata,
    Column("authority", Text, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    Column("at", Moment, nullable=False),
)

# What owners are still to be told, written with the change itself.
notice = Table(
    "notice",
    metadata,
    Column("id", Id, primary_key=True),
    Column("owner_id", Id, ForeignKey("owner.id"), nullable=False),
    Column("kind", Text, nullable=False),  # change, disabled, enabled, flapping, …
    Column("url", Text, nullable=False),  # as the owner writes it
    Column("state", Text, nullable=False),
    Column("was", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Index("notice_owner", "owner_id", "id"),
)

# The one batch of notices that is on its way to an owner; its key and its words stay
# the same however often it is sent. The notices in it are no longer in `notice`: to
# delete "all up to this one" later would lose those that were written before it and
# committed after it.
batch = Table(
    "batch",
    metadata,
    Column(
        "owner_id", Id, ForeignKey("owner.id"), primary_key=True, autoincrement=False
    ),
    Column("key", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),  # notices, reconciliation
    Column("body", LargeBinary, nullable=False),
    Column("number", Integer, nullable=False),  # of the notices in it
    # Of a reconciliation: the last target in it; None when none is left after it.
    Column("last_target", Id),
    Column("made_at", Moment, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("holder", Id),  # the process that sends it
    Column("held_until", Moment, nullable=False, server_default="0"),
)

process = Table(
    "process",
    metadata,
    Column("id", Id, primary_key=True),  # never used again: see server.holder
    Column("machine", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started", BigInteger, nullable=False),  # ticks since boot: pids come again
    Column("began_at", Moment, nullable=False),
    Column("until", Moment, nullable=False),  # its claims hold to here
    Column("pool", Integer, nullable=False, server_default="0"),  # limit
    Column("active", Integer, nullable=False, server_default="0"),
    Column("queued", Integer, nullable=False, server_default="0"),
    Column("turn", BigInteger, nullable=False, server_default="0"),  # last one written
    sqlite_autoincrement=True,
)

# In which URLs three characters stand: for ranges of ids, see `textindex`.
text_part = Table(
    "text_part",
    metadata,
    Column("first", Id, primary_key=True, autoincrement=False),  # id of the range
    Column("gram", Integer, primary_key=True, autoincrement=False),  # 3 bytes of a URL
    Column("places", LargeBinary, nullable=False),  # packed: ids, counted from first
)

# Small facts: how far the text index has come, and the like.
fact = Table(
    "fact",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
