"""Commands and groups with examples, whose modules are imported when they are called.

Start reading at `CommandGroup`: `honeyguide --help` lists its commands without importing one of them; then at `option`
and `takes`: a dataclass has the options of a command. Must not know: any command in particular.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import field, fields
from functools import wraps
from importlib import import_module
from keyword import iskeyword
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from dataclasses import Field

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

PARTIAL = 3  # exit code: done, but something is missing
_WHOLE = 1_000  # characters of a summary: it is wrapped, not cut
SHOW_CONFIG = "--show-config"
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Command(click.Command):
    """A command whose help ends with examples that can be run as they are."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **{"context_settings": SETTINGS, **kwargs})
        self.examples = tuple(examples)
        refine(self.params)

    @property
    def _has_settings(self) -> bool:
        """Whether it does something by itself: a group as a rule only leads to its commands."""
        return not isinstance(self, click.Group) or self.invoke_without_command

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """List the parameters; before --help stands --show-config."""
        *params, help_option = super().get_params(ctx)
        return [*params, *([_show_config_option()] if self._has_settings else []), help_option]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; `honeyguide.toml` has the values of options that are not given."""
        if not self._has_settings or ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        from honeyguide.cli import settings  # a group needs none

        self._reject_repeated(ctx, args)
        found = settings.load(ctx)
        try:
            with _without_required(self.params if SHOW_CONFIG in args else ()):
                return super().parse_args(ctx, _with_values(args, self.params))
        except click.BadParameter as error:
            wrong = found and found.error(ctx, error.param, error.message)
            if not wrong:
                raise
            raise wrong from None

    def _reject_repeated(self, ctx: click.Context, args: list[str]) -> None:
        """Reject two outputs: of an option with one value click takes the last, and a file would silently not be written."""
        try:
            given = self.make_parser(ctx).parse_args(_with_values(args, self.params))[2]
        except click.UsageError:
            return  # reading the arguments says so
        if sum("--output" in param.opts for param in given) > 1:
            raise click.UsageError("--output is given more than once; one file is written, so give one.")

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, or print what it would run with."""
        if not self._has_settings:
            return super().invoke(ctx)
        from honeyguide.cli import settings

        if ctx.meta.get("honeyguide.show_config"):
            return settings.show(ctx)
        settings.tell(ctx)
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each example on one line, however long it is, so that it can be copied."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")


def _show_config_option() -> click.Option:
    def remember(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
        ctx.meta["honeyguide.show_config"] = value

    about = "Print the value of each option, and where it comes from, and exit."
    return click.Option([SHOW_CONFIG], is_flag=True, expose_value=False, callback=remember, help=about)


@contextmanager
def _without_required(params: Sequence[click.Parameter]) -> Iterator[None]:
    """Require nothing for a while, because who asks for the settings has not got the rest yet."""
    required = [param for param in params if param.required]
    for param in required:
        param.required = False
    try:
        yield
    finally:
        for param in required:
            param.required = True


def _with_values(args: list[str], params: Sequence[click.Parameter]) -> list[str]:
    """Write the usual value of an option behind it where none of its values follows."""
    usual = {
        name: param
        for param in params
        if isinstance(param, click.Option) and not param.is_flag and isinstance(param.flag_value, str)
        for name in param.opts
    }
    end = args.index("--") if "--" in args else len(args)
    found = []
    for at, arg in enumerate(args[:end]):
        param = usual.get(arg)
        choices = getattr(param.type, "choices", ()) if param else ()
        is_named = at + 1 < end and args[at + 1] in choices
        found.append(arg if param is None or is_named else f"{arg}={param.flag_value}")
    return [*found, *args[end:]]


class CommandGroup(Command, click.Group):
    """A group with examples; `lazy` has the module and the summary of each subcommand that is imported on demand."""

    command_class = Command

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List commands in the order of their definition, which is the order to learn them in."""
        return [*self.lazy, *(name for name in super().list_commands(ctx) if name not in self.lazy)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module when the command is called."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        command = getattr(
            import_module(f"honeyguide.cli.commands.{self.lazy[cmd_name][0]}"),
            f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name,
        )
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command by its name; for a misspelt name, suggest a similar one."""
        name, known = args[0], self.list_commands(ctx)
        if name == "help" and name not in known:
            return self._resolve_help(ctx, args[1:])
        if name not in known and not ctx.resilient_parsing:
            from difflib import get_close_matches  # not for those who know what they want

            if near := get_close_matches(name, known, 1):
                ctx.fail(f"No such command {name!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def _resolve_help(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        name, command, rest = self.resolve_command(ctx, args)
        return name, command, [*rest, "--help"]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their whole summaries, without importing lazy ones."""
        own = {name: command.get_short_help_str(_WHOLE) for name, command in self.commands.items()}
        summaries = {**{name: summary for name, (_, summary) in self.lazy.items()}, **own}
        with formatter.section("Commands"):
            formatter.write_dl([(name, summaries[name]) for name in self.list_commands(ctx)])


MOST = 1_000_000_000  # of whatever is counted
MOST_DEPTH = 1_000_000
YEAR_S = 366 * 86_400  # the largest duration of an option


class Number(click.FloatRange):
    """A finite number of a range: click's own type accepts `nan`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r} is not a valid number.", param, ctx)
        return number


class NonEmptyText(click.types.StringParamType):
    """A text that is not empty: an empty one is probably a shell variable that was not set."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a text."""
        if value in ("", b""):
            self.fail("it is empty; give a value, or leave the option out.", param, ctx)
        return super().convert(value, param, ctx)


def refine(params: Iterable[click.Parameter]) -> None:
    """Make options reject empty texts, unless that is their default, and name numbers plainly in errors."""
    for param in params:
        is_text = isinstance(param, click.Option) and type(param.type) is click.types.StringParamType
        if is_text and param.default != "":
            param.type = NonEmptyText()
        elif isinstance(param.type, click.IntRange):
            param.type.name = "whole number"
        elif isinstance(param.type, click.FloatRange):
            param.type.name = "number"


COUNT = click.IntRange(1, MOST)


def option(usage: str, about: str, *, default: Any = None, **settings: Any) -> Any:
    """Declare a field of a dataclass as an option that is used like `-o --output FILE`; help shows a default."""
    return field(default=default, metadata={"usage": usage, "help": about, **settings})


def takes(**kinds: type[Any]) -> Decorator:
    """Add the options that the fields of dataclasses declare; a command gets each object under its name.

    A field that is a `bool` is a flag, and a tuple is an option that may be repeated.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def filled(**values: Any) -> Any:
            for name, kind in kinds.items():
                values[name] = kind(**{one.name: values.pop(one.name) for one in fields(kind)})
            return command(**values)

        decorated: Callable[..., Any] = filled
        for one in reversed([one for kind in kinds.values() for one in fields(kind)]):
            words, settings = _declaration(one)
            decorated = click.option(*words, **settings)(decorated)
        return decorated

    return decorate


def shared_fields(options: Any, kind: type[Any]) -> dict[str, Any]:
    """Give the options that are fields of a request, too: what has one name in both is not copied by hand."""
    names = {one.name for one in fields(kind)}
    return {one.name: getattr(options, one.name) for one in fields(options) if one.name in names}


def option_words(options: Any, names: Iterable[str]) -> list[str]:
    """Write options as they are typed, as far as they differ from their defaults."""
    words: list[str] = []
    for name in names:
        value, usual = getattr(options, name), getattr(type(options)(), name)
        is_usual = value is None or value is False or value == usual
        texts = value if isinstance(value, tuple) else () if is_usual else (value,)
        flag = f"--{name.replace('_', '-')}"
        words += [word for text in texts for word in (flag, *([] if text is True else [str(text)]))]
    return words


def options_of(kind: type[Any]) -> list[click.Option]:
    """List the options that a dataclass declares."""
    declared = map(_declaration, fields(kind))
    return [click.Option(words, **settings) for words, settings in declared]


def _declaration(one: Field[Any]) -> tuple[list[str], dict[str, Any]]:
    settings = dict(one.metadata)
    words = settings.pop("usage").split()
    flags = [word for word in words if word.startswith("-")]
    is_flag = one.type == "bool"
    if is_flag:
        settings["is_flag"] = True
    elif words[len(flags) :]:
        settings["metavar"] = words[-1]
    if str(one.type).startswith("tuple"):
        settings.setdefault("multiple", True)
    if one.default is not None:
        settings = {"default": one.default, "show_default": not is_flag, **settings}
    return [*flags, one.name], settings
