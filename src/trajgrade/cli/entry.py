"""The command itself. The one place that prints errors and gives exit codes.

0    what was asked is done, and what must hold holds
1    a threshold fails, or a row is in error where that should fail
2    bad input or usage
3    it cannot be said: a threshold is undecided, a metric scored no row, or trajgrade broke
130  interrupted
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import click

from trajgrade import __version__
from trajgrade.cli import VERBS
from trajgrade.cli.streams import closed_quietly, make_lenient, say
from trajgrade.errors import ConfigError, TrajgradeError, near

BAD_INPUT = 2
BROKEN = 3
INTERRUPTED = 130


class Verbs(click.Group):
    """The verbs by name, each loaded when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the verbs."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a verb."""
        entry = VERBS.get(cmd_name)
        verb: click.Command | None = entry.load() if entry is not None else None
        return verb

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that is named first.

        Raises:
            click.UsageError: There is none of that name.
        """
        if args[0] not in VERBS and not args[0].startswith("-"):
            guess = near(args[0], VERBS)
            hint = f" Did you mean {guess!r}?" if guess else ""
            raise click.UsageError(
                f"no such verb {args[0]!r}.{hint} Verbs: {', '.join(VERBS)}", ctx
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without loading them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, entry.description) for name, entry in VERBS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb, quietly to its end if nobody reads on."""
        with closed_quietly():
            return super().invoke(ctx)

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> NoReturn:
        """Run the command and exit with its code."""
        make_lenient()
        extra["standalone_mode"] = False
        code = BROKEN
        with closed_quietly(), warnings.catch_warnings():
            warnings.showwarning = _warn
            code = _guarded(lambda: super(Verbs, self).main(args, **extra))
        sys.exit(code)


def _guarded(run: Callable[[], Any]) -> int:
    """Return the exit code of a call, whatever comes of it."""
    try:
        found = run()
        return found if isinstance(found, int) else 0
    except click.ClickException as wrong:
        wrong.show()
        return wrong.exit_code
    except TrajgradeError as wrong:
        tell(wrong)
        return BAD_INPUT
    except BrokenPipeError:
        raise
    except OSError as wrong:
        named = f"{wrong.filename}: " if wrong.filename else ""
        say(f"{named}{wrong.strerror or wrong}")
        return BAD_INPUT
    except SystemExit as left:
        if isinstance(left.__context__, BrokenPipeError):
            return 0  # click's own answer to a reader that leaves while help is printed
        say("an evaluator or a plugin has ended the program")
        return BROKEN
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except Exception:  # noqa: BLE001 a crash must not have the exit code of a threshold that fails
        traceback.print_exc()
        say("this is a fault in trajgrade, or in a plugin named above")
        return BROKEN


def tell(error: TrajgradeError) -> None:
    """Print an error; of several faults, each on a line of its own."""
    faults = error.faults if isinstance(error, ConfigError) else str(error).splitlines()
    start = f"{error.where}: " if isinstance(error, ConfigError) and error.where else ""
    if len(faults) == 1:
        say(f"{start}{faults[0]}")
        return
    say(f"{start}{len(faults)} faults")
    for fault in faults:
        say(fault, "  - ")


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as the errors are printed, without the line of code that gave it."""
    say(str(message), "warning: ")


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 all holds, 1 a threshold fails, 2 bad input, 3 it cannot be said, "
    "130 interrupted.",
)
@click.version_option(__version__, "--version", message="%(prog)s %(version)s")
def command() -> None:
    """Grade AI agents by their traces."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit with its code."""
    command.main(args, prog_name="trajgrade")
