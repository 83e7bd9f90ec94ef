"""A group of commands that says what may have been meant."""

import click


class Group(click.Group):
    """As click has it, but in order, and with what is near to an unknown name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All of them, as they were added: click would sort them by name."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with what may have been meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches  # noqa: PLC0415  # hardly needed

            near = get_close_matches(args[0], self.list_commands(ctx), 1)
            words = f"did you mean {near[0]}?" if near else "there is none such"
            raise click.UsageError(
                f"{error.message.rstrip('.')}: {words}", ctx
            ) from None
