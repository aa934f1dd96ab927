"""`honeyguide.toml`: values of options that never change, found upwards from the working folder.

Owns: which file counts, which options it may set, and `--show-config`. Must not know: any command in particular. Start
reading at `load`. The folder may be a stranger's clone, so the file sets no option that reads or writes files, opens the
private network or sends credentials.
"""

from __future__ import annotations

import json
import os
import stat
import tomllib
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from honeyguide.core.text.printable import printable
from honeyguide.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "honeyguide.toml"
COMMON = "common"
MAX_BYTES = 16 * 1024  # a person writes it, and tomllib takes quadratic time for dots
_META = "honeyguide.settings"
# What destroys or opens something; options of files are known by the names of their values.
_TYPED_ONLY = frozenset(
    {"allow_private", "headers", "proxy", "restart", "retry_failed", "force", "enqueue", "render"}
)
_FILES = ("FILE", "DIR", "PATH", "PICKS", "PLAN")
LEAST_DELAY_S = 0.5  # the default: a stranger's folder must not make us rude to sites
_SECRET = frozenset({"headers", "proxy", "netrc"})


@dataclass(frozen=True, slots=True)
class Settings:
    """The file, and what it sets of one command: parameters by name, and the table that each stands in."""

    file: str
    values: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)

    def error(self, ctx: click.Context, param: click.Parameter | None, what: str) -> ConfigError | None:
        """Make the error for a value that an option does not accept, if it is from the file."""
        if param is None or _source(ctx, param) is not ParameterSource.DEFAULT_MAP:
            return None
        return _wrong(self.file, f"[{self.tables[str(param.name)]}] {_key(param)}", what)


def load(ctx: click.Context) -> Settings | None:
    """Read what the file sets of the command, remember it, and make it the command's defaults."""
    found = find(Path.cwd())
    if found is None:
        return None
    settings = Settings(str(found))
    content = _read(found)
    _check_tables(settings.file, content, ctx)
    options = {_key(param): param for param in ctx.command.params if isinstance(param, click.Option)}
    if common := content.get(COMMON):
        from honeyguide.cli.options import common_options  # how to fetch, and how much to print

        shared = {_key(param): options.get(_key(param), param) for param in common_options()}
        _take(settings, COMMON, common, shared)
    path = ctx.command_path.split()[1:]
    table: Any = content
    for name in path:
        table = _table(settings.file, ".".join(path), table.get(name, {}))
    if isinstance(ctx.command, click.Group):  # its commands have tables of their own
        table = {key: value for key, value in table.items() if key not in ctx.command.commands}
    _take(settings, ".".join(path), table, options)
    for name in settings.values.keys() - {param.name for param in options.values()}:
        del settings.values[name]
    ctx.default_map = settings.values
    ctx.meta[_META] = settings
    return settings


def find(folder: Path) -> Path | None:
    """Find the file in a folder or above it, up to the home folder or the border of the file system."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home raises where there is none
    try:
        here = folder.stat()
        places = [folder, *folder.parents]
        for place in places[: places.index(home) + 1 if home in places else None]:
            if place.stat().st_dev != here.st_dev:
                return None
            file = place / NAME
            if file.exists():
                return file if _is_trusted(file, here.st_uid) else None
    except OSError:  # a folder that may not be looked into has no settings for us
        return None
    return None


def _is_trusted(file: Path, owner: int) -> bool:
    """Tell whether a file is ours, the system's, or of the owner of the working folder: /tmp belongs to everybody."""
    own = {0, owner, os.geteuid() if hasattr(os, "geteuid") else owner}
    if file.stat().st_uid in own:
        return True
    click.echo(f"Note: {printable(str(file))} belongs to another user, and is not used", err=True)
    return False


def _read(file: Path) -> dict[str, Any]:
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise _wrong(str(file), "", "is not a file")
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise _wrong(str(file), "", f"has more than {MAX_BYTES:,} bytes; settings are short")
        return tomllib.loads(data.decode("utf-8"))
    except OSError as error:
        raise _wrong(str(file), "", f"cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, ConfigError):
            raise
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise _wrong(str(file), "", f"is not TOML: {why}") from None


def _check_tables(file: str, content: Mapping[str, Any], ctx: click.Context) -> None:
    root = ctx.find_root()
    known = [COMMON, *root.command.list_commands(root)] if isinstance(root.command, click.Group) else [COMMON]
    for name, value in content.items():
        if name not in known:
            what = "is not the name of a command" if isinstance(value, dict) else "stands outside of a table"
            raise _wrong(file, name, f"{what}; tables are {', '.join(known)}")
        _table(file, name, value)


def _table(file: str, name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(file, name, f"must be a table, [{name}]")
    return value


def _take(
    settings: Settings, table: str, values: Mapping[str, Any], options: Mapping[str, click.Parameter]
) -> None:
    """Check keys and types of a table, and take its values over."""
    allowed = sorted(key for key, param in options.items() if not _is_typed_only(param))
    for key, value in values.items():
        where = f"[{table}] {key}"
        param = options.get(key)
        if param is None:
            raise _wrong(settings.file, where, f"is not an option here; there are {', '.join(allowed)}")
        if not isinstance(param, click.Option) or _is_typed_only(param):
            why = "because the folder may be somebody else's"
            raise _wrong(settings.file, where, f"is accepted on the command line only, {why}")
        kind, expected = _expected(param)
        is_fit = isinstance(value, kind) and isinstance(value, bool) == (kind is bool)
        if not is_fit or (kind is list and not all(isinstance(one, str) for one in value)):
            raise _wrong(settings.file, where, f"must be {expected}, not {_described(value)}")
        if param.name == "delay" and value < LEAST_DELAY_S:
            why = f"less than {LEAST_DELAY_S} is accepted on the command line only, because the folder may be somebody else's"
            raise _wrong(settings.file, where, why)
        settings.tables[str(param.name)] = table
        settings.values[str(param.name)] = _value(param, value, settings.file)


def _is_typed_only(param: click.Parameter) -> bool:
    names = (param.metavar or "").split("|")
    return param.name in _TYPED_ONLY or any(name in _FILES for name in names)


def _expected(param: click.Option) -> tuple[Any, str]:
    """Give the type of an option in TOML, and its name."""
    if param.multiple:
        return list, "a list of texts"
    if param.is_flag:
        return bool, "true or false"
    if param.count or isinstance(param.type, click.IntRange):
        return int, "a whole number"
    if isinstance(param.type, click.FloatRange):
        return (int, float), "a number"
    choices = getattr(param.type, "choices", None)
    return str, f"one of {', '.join(choices)}" if choices else "a text in quotes"


def _described(value: Any) -> str:
    if isinstance(value, (dict, list)):  # they may be nested so deeply that nothing can write them
        return "a table" if isinstance(value, dict) else "a list"
    return _toml(value)[:80]


def _value(param: click.Option, value: Any, file: str) -> Any:
    """Turn a value into that of the parameter: a flag may mean false, the path of a profile starts at the file."""
    if param.is_flag and isinstance(param.flag_value, bool):
        return param.flag_value if value else not param.flag_value
    if param.name == "profile" and ("/" in value or value.endswith((".toml", ".json"))):
        return str(Path(file).parent / value)
    return value


def _key(param: click.Parameter) -> str:
    return max(param.opts, key=len).lstrip("-")


def _wrong(file: str, where: str, what: str) -> ConfigError:
    return ConfigError(file, (Problem(where, what),))


# --- what is in force ---


def tell(ctx: click.Context) -> None:
    """Note which options the file decides, because a file in a folder above is easily forgotten."""
    settings: Settings | None = ctx.meta.get(_META)
    if settings is None or ctx.params.get("quiet"):
        return
    deciding = [param for param in ctx.command.params if _source(ctx, param) is ParameterSource.DEFAULT_MAP]
    if deciding:
        flags = ", ".join(f"--{_key(param)}" for param in deciding)
        click.echo(f"Note: {printable(settings.file)} sets {flags}", err=True)


def show(ctx: click.Context) -> None:
    """Print the options of the command as TOML, each with where its value comes from."""
    settings: Settings | None = ctx.meta.get(_META)
    found = f"no {NAME} is found" if settings is None else printable(settings.file)
    click.echo(f"# {ctx.command_path}: {found}\n[{'.'.join(ctx.command_path.split()[1:])}]")
    for param in ctx.command.params:
        if isinstance(param, click.Option):
            click.echo(_line(ctx, param, settings))


def _line(ctx: click.Context, param: click.Option, settings: Settings | None) -> str:
    source, name, key = _source(ctx, param), str(param.name), _key(param)
    value = ctx.params.get(name, ctx.meta.get(f"honeyguide.{name}"))
    if param.is_flag and isinstance(param.flag_value, bool):
        value = value is not None and value == param.flag_value
    if isinstance(value, dict):  # columns, which were FIELD=NAME
        value = tuple("=".join(pair) for pair in value.items())
    if value in (None, ()) or (source is ParameterSource.DEFAULT and isinstance(value, datetime)):
        _, _, usual = (param.help or "").partition("[default: ")
        return f"# {key}: {usual.rstrip(']') or 'not set'}  # default"
    whence = "default" if source is ParameterSource.DEFAULT else "command line"
    if settings is not None and source is ParameterSource.DEFAULT_MAP:
        whence = f"{NAME}, [{settings.tables[name]}]"
    shown = '"(not shown)"' if name in _SECRET else _toml(value)
    return f"{'# ' if _is_typed_only(param) else ''}{key} = {shown}  # {whence}"


def _source(ctx: click.Context, param: click.Parameter) -> ParameterSource | None:
    return ctx.get_parameter_source(str(param.name))


def _toml(value: Any) -> str:
    """Write a value; what a terminal would obey is escaped."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if not isinstance(value, (bool, int, float)):
        value = str(value)
    written = json.dumps(value, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in written)
