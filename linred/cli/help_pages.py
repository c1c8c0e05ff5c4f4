"""Help pages of the `linred` command: whole summaries, and the options of long commands under headings."""

import click

from linred.cli.target_options import TARGET_OPTIONS, UTILITY_OPTIONS

HEADINGS = {
    "Data": ("artifact_path", "sensitive", "public", "bins", "domain", "missing", "no_scan", "from_format", "delimiter",
             "encoding"),
    "Targets": tuple(TARGET_OPTIONS),
    "Utility": tuple(UTILITY_OPTIONS),
    "Mechanism": ("alpha", "mechanism", "mechanisms", "without_sensitive", "confidence", "time_limit"),
    "Output": ("output", "save_mechanism", "html", "plot", "as_csv", "keep_sensitive", "columns", "unseen", "to_format",
               "force"),
    "Randomness": ("key_file", "seed", "id_column", "context"),
}  # fmt: skip
"""{heading: names of parameters}; all other options are listed under "Other"."""

EPILOG = """\b
Exit codes:
  0    done
  1    the run failed: no space left, out of memory, or a fault in linred
  2    wrong usage or input; the message says what to change
  3    an audit refuted a claim or a mechanism
  130  interrupted (141: the reader of the output left; 143: terminated)

\b
Examples:
  linred demo
  linred run in.csv --sensitive S --public X --ldp 1 --columns A,B -o out.csv
"""


class _Page:
    """The common part of the help pages of the group and of its commands."""

    def get_short_help_str(self, limit=45):
        """Return the first line of the help text, whatever its length. click would cut it off."""
        return self.help.partition("\n")[0].removesuffix(".")

    def get_help_option(self, ctx):
        option = super().get_help_option(ctx)
        option.help = "Show this help and exit"
        return option


class Group(_Page, click.Group):
    """The `linred` command itself."""


class Command(_Page, click.Command):
    """A command with few options, listed in one block."""


class LongCommand(Command):
    """A command whose options are listed under `HEADINGS`."""

    def format_options(self, ctx, formatter):
        options = [one for one in self.get_params(ctx) if one.param_type_name == "option"]
        records = {option.name: option.get_help_record(ctx) for option in options}
        for heading, names in HEADINGS.items():
            self._write(formatter, heading, [records.pop(name) for name in names if name in records])
        self._write(formatter, "Other", list(records.values()))

    def _write(self, formatter, heading, records):
        if records:
            with formatter.section(heading):
                formatter.write_dl(records)
