"""The limits of a target in words, and the figures that were reached, as text reports and the page print them.

They come as `Reached`, from `sampler.certificate().reached`. Figures reached are upper bounds and are rounded up.
"""

from linred.report import numbers

WORDS = {
    "ldp": "LDP",
    "log_lift": "log-lift",
    "max_lift": "max-lift",
    "min_lift": "min-lift",
    "dp": "DP between neighbours",
    "pairs": "excess over the limits of pairs",
    "secrets": "LDP of {secret}",
    "given_x": "LDP for someone who knows X",
    "max_changed_by_s": "largest share of changed records in a group of S",
}
"""What each field of a `Target` limits. {secret} stands for the columns of a secret, or for its number."""

SHARES = {"max_changed_by_s"}
"""The limits that are shares of records; all others are in nats."""

LONGEST_NUMBER = 6
"""Characters. A longer limit, which a search has found, is printed with four digits, rounded up."""


def numbered(place):
    """Return the name of a secret that has no other."""
    return f"secret {place + 1}"


def words(one, secret=numbered):
    """Return what is limited. secret : function from the place of a secret to its name."""
    return WORDS[one.name].format(secret="" if one.place is None else secret(one.place))


def asked(one, space=" "):
    """Return the limit."""
    if one.name in SHARES:
        return numbers.level(one.limit, space)
    exact = repr(one.limit)
    return exact if len(exact) <= LONGEST_NUMBER else numbers.figure(one.limit, "up")


def figure(one, space=" "):
    """Return the figure that was reached. It is printed as 0 if no pair exceeds its limit."""
    if one.name in SHARES:
        return numbers.share(one.figure, "up", space)
    return numbers.figure(max(0.0, one.figure), "up")


def stated(reached, secret=numbered, between="<=", nats="", space=" "):
    """Return all limits in one phrase. nats : what follows a limit in nats."""
    units = ("" if one.name in SHARES else nats for one in reached)
    phrases = (f"{words(one, secret)} {between} {asked(one, space)}" for one in reached)
    return " and ".join(map("".join, zip(phrases, units, strict=True)))
