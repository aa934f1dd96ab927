"""One connection to PostgreSQL: transactions, trying again after a lost connection, and what errors mean to a person.

Owns: `PostgresDatabase`, psycopg. Must not know: what the tables mean. Start reading at `PostgresDatabase.retried`.
Nothing that is shown or logged has the password of an address in it: `name_of` makes what people see.
"""

from __future__ import annotations

# ruff: noqa: D102 - common/database.py says what the methods promise
import json
import re
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

from honeyguide.adapters.store.common.database import OPENED_TO_READ, ClosedConnection, Database
from honeyguide.errors import InputError, SchemaMismatchError, StoreBusyError, StoreError, shown

try:
    import psycopg
    from psycopg import errors as pg
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.types.numeric import Int8Dumper
    from psycopg.types.string import StrDumperUnknown
except ImportError:
    raise InputError(
        "a store in PostgreSQL needs psycopg, which is not installed; pip install 'psycopg[binary]>=3.2'"
    ) from None

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from psycopg.abc import Buffer

R = TypeVar("R")
PATIENCE_S = 60.0  # a server that restarts is there again by then
_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.05, 2.0
_BATCH = "WITH rows AS"  # what statements have in them that take all their rows as one JSON list
# What a worker's connection is like. Plans go by indexes: statistics of a young table say that reading all of it is cheap.
_SETTINGS = (
    "SET search_path TO honeyguide",
    "SET idle_in_transaction_session_timeout TO '60s'",
    "SET lock_timeout TO '30s'",
    "SET synchronous_commit TO off",  # see `lease` in sql/queue.sql: a claim waits for the disk, and a page that is lost is fetched again
    "SET enable_seqscan TO off",
    "SET enable_hashjoin TO off",
    "SET enable_mergejoin TO off",
    "SET jit TO off",
    "SET plan_cache_mode TO force_generic_plan",  # planning anew costs more than most statements
)
_PASSING = ("08", "40001", "40P01", "55P03", "57P01", "57P02", "57P03", "25P03", "57014")


class _Text(StrDumperUnknown):
    """Writes texts; PostgreSQL has no place for a NUL or half a character."""

    def dump(self, obj: str) -> Buffer | None:
        return obj.replace("\0", "\ufffd").encode("utf-8", "replace")


def name_of(url: str) -> str:
    """Give the address of a database as people may see it.

    >>> name_of("postgresql://crawler:secret@db.example:5433/web?password=secret")
    'postgresql://crawler@db.example:5433/web'
    """
    try:
        found = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return "postgresql://"
    user, port = found.get("user"), found.get("port")
    host = str(found.get("host") or "")
    place = (
        (f"{user}@" if user else "") + ("" if host.startswith("/") else host) + (f":{port}" if port else "")
    )
    return f"postgresql://{place}/{found.get('dbname') or ''}"


class PostgresDatabase(Database):
    """One connection to a database. Reading holds no transaction open; writing begins one."""

    folder = "postgres"
    listed = "SELECT jsonb_array_elements_text($1::jsonb)"

    def __init__(self, url: str, *, read_only: bool = False, patience_s: float = PATIENCE_S) -> None:
        super().__init__(name_of(url))
        self._url = url
        self._patience_s = patience_s
        self.is_read_only = read_only
        self.on_lost: Callable[[], None] = lambda: (
            None
        )  # what was learnt of an undone transaction is forgotten
        self.reconnects = 0
        self._is_begun = False  # a transaction; the server hears of it with the first change
        self._has_failed = False  # something in it
        self._pipeline: psycopg.Pipeline | None = None  # while the server has a transaction: see `write`
        self._mode = ExitStack()  # that the connection is in while it has a pipeline
        self._connection = self._connect()

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        try:
            connection = psycopg.connect(
                self._url, autocommit=True, cursor_factory=psycopg.RawCursor, connect_timeout=10,
                application_name="honeyguide",
            )  # fmt: skip
        except psycopg.Error as error:
            raise self.translate(error) from None
        connection.prepare_threshold = 1
        connection.prepared_max = 200
        connection.adapters.register_dumper(str, _Text)
        connection.adapters.register_dumper(int, Int8Dumper)
        for setting in (
            *_SETTINGS,
            *(("SET default_transaction_read_only TO on",) if self.is_read_only else ()),
        ):
            connection.execute(setting)
        return connection

    # --- trying again ---

    def retried(self, work: Callable[[], R]) -> R:
        """Do some work as one transaction, and again if it met a deadlock or the connection was lost.

        Inside a transaction that is open already it is a part of that one.
        """
        if self.is_open:
            return work()
        deadline, pause_s = 0.0, _FIRST_PAUSE_S
        while True:
            try:
                result = work()
                self.flush()
            except (StoreBusyError, psycopg.Error) as error:
                deadline = deadline or time.monotonic() + self._patience_s
                if time.monotonic() > deadline or not _may_pass(error):
                    raise
                self._recover()
                time.sleep(pause_s)
                pause_s = min(pause_s * 2, _LAST_PAUSE_S)
            else:
                return result

    def _recover(self) -> None:
        """Undo, and connect again if there is no connection; a server that starts may refuse."""
        try:
            self.undo()
            if not self._connection.closed:
                self._connection.execute("SELECT 1")
                self.on_lost()
                return
        except (psycopg.Error, StoreError):
            pass
        self._connection.close()
        try:
            self._connection = self._connect()
        except StoreError:
            return
        self.reconnects += 1
        self.on_lost()

    def _run(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        try:
            return self._connection.execute(sql, values or None)
        except psycopg.Error as error:
            raise self.translate(error) from error

    def _read(self, sql: str, values: Sequence[Any]) -> list[Any]:
        if self.is_open:
            return self._fetched(self._run(sql, values))
        return self.retried(lambda: self._fetched(self._run(sql, values)))

    def _fetched(self, cursor: psycopg.Cursor[Any]) -> list[Any]:
        try:
            found: list[Any] = cursor.fetchall()
        except psycopg.Error as error:
            raise self.translate(error) from error
        return found

    # --- reading ---

    def version(self) -> int:
        return self.turn  # others may always have written

    def lock(self, name: str) -> None:
        self.begin_write()
        self.write(self.queries("runs")["lock"], (name,))

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._read(sql, values)

    def one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return next(iter(self._read(sql, values)), None)

    def walk(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        yield from self.all(sql, values)

    # --- writing ---

    def begin_write(self) -> None:
        if not self.is_open:
            self._is_begun, self._has_failed = True, False
            self.turn += 1
            self._drop_waiting()

    @property
    def is_open(self) -> bool:
        return self._is_begun

    def _begin_at_server(self) -> None:
        self.begin_write()
        if self._pipeline is None:
            self._pipeline = self._mode.enter_context(self._connection.pipeline())
            self._run("BEGIN")

    def write(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """Send a change without waiting for its answer, unless somebody wants to know it: the server may be far away."""
        self._begin_at_server()
        return _Sent(self._run(sql, values), self._wait)

    def script(self, text: str) -> None:
        """Run the statements of a script."""
        for statement in statements(text):
            self.write(statement)

    def _wait(self) -> None:
        """Wait for the answers to everything that was sent."""
        if self._pipeline is not None:
            try:
                self._pipeline.sync()
            except psycopg.Error as error:
                raise self.translate(error) from error

    def _leave(self, last: str) -> None:
        """End the transaction of the server."""
        if self._pipeline is not None:
            self._run(last)
            self._wait()
            self._pipeline = None
            self._mode.close()

    def changed(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        self._begin_at_server()
        return self._fetched(self._run(sql, values))

    def write_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        if not rows:
            return
        if _BATCH in sql:
            self.write(sql, (json_of(rows),))
        elif len(rows) == 1:
            self.write(sql, rows[0])
        else:
            self._begin_at_server()
            try:
                self._connection.cursor().executemany(sql, rows)
            except psycopg.Error as error:
                raise self.translate(error) from error

    def changed_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Change many things alike, and read what that returns."""
        return self.changed(sql, (json_of(rows),)) if rows else []

    def flush(self) -> None:
        if self._has_failed:  # somebody was told why; of such a transaction nothing is left to commit
            self.undo()
            return
        self.write_waiting()
        self._leave("COMMIT")
        self._is_begun = False

    def undo(self) -> None:
        self._drop_waiting()
        self._is_begun = self._has_failed = False
        self._pipeline = None
        with suppress(psycopg.Error):  # what was sent may have failed, which is why it is undone
            self._mode.close()
        is_idle = psycopg.pq.TransactionStatus.IDLE
        if not self._connection.closed and self._connection.info.transaction_status != is_idle:
            self._run("ROLLBACK")

    def limit(self, seconds: float) -> None:
        """Let no statement take longer than that."""
        self._run(f"SET statement_timeout TO {round(seconds * 1000)}")

    def vacuum(self) -> None:
        """Let what was deleted be used again."""
        self._run("VACUUM")

    def close(self) -> None:
        with suppress(psycopg.Error):  # or the driver complains of a transaction that nobody has ended
            self._mode.close()
        self._connection.close()
        self._connection = cast("psycopg.Connection[tuple[Any, ...]]", ClosedConnection(self.path))

    def translate(self, error: psycopg.Error) -> StoreError:
        """Make a sentence of an error; the text of the driver may quote the address, so it is shown for few of them."""
        self._has_failed = True
        said = str(error) if error.sqlstate is None else ""  # a refused connection has no state
        if "authentication failed" in said or "no password" in said:
            return StoreError(self.path, "refuses this user or password; check the address of --store")
        if "database" in said and "does not exist" in said:
            return StoreError(self.path, "has no such database; create it with createdb")
        if self.is_read_only and isinstance(error, pg.ReadOnlySqlTransaction):
            return StoreError(self.path, OPENED_TO_READ)
        if isinstance(error, pg.InsufficientPrivilege | pg.ReadOnlySqlTransaction | pg.InvalidSchemaName):
            return StoreError(self.path, self._lack(error))
        if isinstance(error, pg.UndefinedTable | pg.UndefinedColumn):
            return SchemaMismatchError(
                self.path, "has other tables than a Honeyguide store; name another database"
            )
        if isinstance(error, pg.DiskFull):
            return StoreError(
                self.path, "the disk of the server is full; free some space and run the same command again"
            )
        if _may_pass(error):
            return _PassingError(
                self.path, "the connection was lost or the server was busy; run the same command again"
            )
        if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
            refused = re.findall(r"FATAL:\s*(.+)", said)  # the words of the server itself quote no password
            if refused:
                what = f"the server refuses the connection: {shown(refused[-1].strip(), 200)}"
                return _PassingError(self.path, f"{what}; check the address of --store")
            return _PassingError(
                self.path, "cannot be reached; check the address of --store and that the server runs"
            )
        return StoreError(self.path, f"cannot be used: {shown(_diagnosis(error), 200)}")

    def _lack(self, error: psycopg.Error) -> str:
        """Say which right a user lacks, and who has it."""
        if self.is_read_only:
            return "this user may not read the schema honeyguide; use a role that may, or grant it USAGE and SELECT"
        lacking = _diagnosis(error).lower()
        if "database" in lacking:
            return "this user may not make the schema honeyguide in this database; use the role that owns it"
        if "schema" in lacking:
            return "this user may not use the schema honeyguide, which belongs to another role; use that role"
        return "this user may only read; use a role that owns the schema honeyguide"


class _Sent:
    """A change that was sent to the server."""

    def __init__(self, cursor: psycopg.Cursor[Any], wait: Callable[[], None]) -> None:
        self._cursor, self._wait = cursor, wait

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""
        self._wait()
        return int(self._cursor.rowcount)


class _PassingError(StoreBusyError):
    """An error that trying again may cure."""


def _may_pass(error: Exception) -> bool:
    if isinstance(error, _PassingError):
        return True
    state = getattr(error, "sqlstate", None)
    return state is not None and state.startswith(_PASSING)


def _diagnosis(error: psycopg.Error) -> str:
    return error.diag.message_primary or type(error).__name__


def statements(text: str) -> list[str]:
    r"""Cut a script into its statements, each of which ends with its line; comments are left out.

    >>> statements("SELECT 1; -- one\nDO $$\nBEGIN;\nEND $$;\n")
    ['SELECT 1;', 'DO $$\nBEGIN;\nEND $$;']
    """
    found = [""]
    for line in text.splitlines():
        found[-1] += line.partition("--")[0].rstrip() + "\n"
        if found[-1].rstrip().endswith(";") and found[-1].count("$$") % 2 == 0:
            found.append("")
    return [statement.strip() for statement in found if statement.strip()]


def json_of(rows: Sequence[Sequence[Any]]) -> str:
    r"""Write rows as JSON; a NUL has no place in PostgreSQL's.

    >>> json_of([(1, "a"), (2, "b\0")])
    '[[1,"a"],[2,"b�"]]'
    """
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    if "\\u0000" not in text:
        return text
    return json.dumps(
        [[value.replace("\0", "\ufffd") if isinstance(value, str) else value for value in row] for row in rows],
        ensure_ascii=False, separators=(",", ":"),
    )  # fmt: skip
