"""Rows for tests of notices: who listens, what there is to tell, who sends it."""

from hashlib import sha256

from sqlalchemy import insert, select

from ronda.store.sql import schema
from ronda.store.sql.engines import Database

TOKEN = "the token of everybody here"


def listener(
    database: Database,
    name: str = "ann",
    callback: str = "http://127.0.0.1:9/told",
    reconcile_at: float = 1e12,
) -> int:
    """An owner who is told; a reconciliation is not due before the end of days."""
    values = {
        "name": name,
        "callback": callback,
        "token_hash": sha256(TOKEN.encode()).hexdigest(),
        "added_at": 0.0,
        "reconcile_at": reconcile_at,
    }
    with database.writing() as connection:
        made = connection.execute(insert(schema.owner).values(values))
        return int(made.inserted_primary_key[0])


def joined(database: Database) -> int:
    """A process."""
    values = {"machine": "m", "pid": 1, "started": 1, "began_at": 0.0, "until": 1e12}
    with database.writing() as connection:
        made = connection.execute(insert(schema.process).values(values))
        return int(made.inserted_primary_key[0])


def written(database: Database, owner_id: int, first: int, last: int) -> list[str]:
    """Notices of changes, as the ledger writes them; their URLs in order."""
    urls = [f"http://h.test/{number}" for number in range(first, last + 1)]
    change = {"kind": "change", "state": "broken", "was": "ok"}
    why = {"reason": "http_404", "message": "Not found: ä"}
    with database.writing() as connection:
        connection.execute(
            insert(schema.notice),
            [
                {"owner_id": owner_id, "url": url, "at": 1000.5, **change, **why}
                for url in urls
            ],
        )
    return urls


def watched(database: Database, owner_id: int, number: int) -> list[str]:
    """Targets that an owner watches, every third of them acknowledged."""
    with database.writing() as connection:
        add = insert(schema.server).values(address="name:h.test")
        server_id = connection.execute(add).inserted_primary_key[0]
        add = insert(schema.host).values(name="h.test", server_id=server_id)
        host_id = connection.execute(add).inserted_primary_key[0]
        same = {"scheme": "http", "host_id": host_id, "added_at": 500.0}
        found = {"state": "broken", "reason": "http_404", "message": "Not found"}
        connection.execute(
            insert(schema.target),
            [
                {"key": n, "url": f"http://h.test/{n}", **same, **found}
                for n in range(number)
            ],
        )
        rows = connection.execute(select(schema.target.c.id, schema.target.c.key))
        watches = [
            {
                "owner_id": owner_id,
                "target_id": row.id,
                "added_at": 500.0,
                "spelling": "HTTP://H.test/0" if row.key == 0 else None,
                "acknowledged": "" if row.key % 3 else "broken",
            }
            for row in rows
        ]
        connection.execute(insert(schema.watch), watches)
    return ["HTTP://H.test/0", *(f"http://h.test/{n}" for n in range(1, number))]


def row(database: Database, table: object, owner_id: int) -> dict[str, object] | None:
    """The row of an owner, or of his batch."""
    key = table.c.id if table is schema.owner else table.c.owner_id  # type: ignore[attr-defined]
    with database.reading() as connection:
        found = connection.execute(select(table).where(key == owner_id))  # type: ignore[call-overload]
        one = found.mappings().one_or_none()
        return None if one is None else dict(one)


def waiting(database: Database, owner_id: int) -> int:
    """How many notices are in no batch yet."""
    notice = schema.notice
    with database.reading() as connection:
        found = select(notice.c.id).where(notice.c.owner_id == owner_id)
        return len(connection.execute(found).all())
