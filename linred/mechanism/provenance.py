"""What hangs on a mechanism: figures that hold with confidence, and what they cost."""

from typing import NamedTuple

from linred.privacy.leakage import PRIVACY_LABELS, Privacy

NOTHING = "no value tells anything, whatever the data"
HELD_OUT, FITTED = "records that were not used for fitting", "the counts that it was fitted on"


class Certified(NamedTuple):
    """Figures in nats. Each is at or above the truth with probability `confidence`; see `certify` for what is random.

    plug_in, ceiling : figures of the same kinds, without confidence. because : what makes `ldp` as large as it is.
    together : whether all figures hold at once with that confidence; otherwise each does by itself.
    """

    ldp: float
    log_lift: float
    max_lift: float
    min_lift: float
    mutual_information: float
    maximal_leakage: float
    confidence: float
    basis: str
    n_records: int
    together: bool
    because: str
    plug_in: Privacy
    ceiling: Privacy

    @property
    def figures(self):
        return Privacy(*self[: len(Privacy._fields)])

    def __str__(self):
        head = f"{'what is told about S [nats]':<32}{'plug-in':>14}{f'at {self.confidence:.6g}':>14}{'ceiling':>14}"
        rows = zip(PRIVACY_LABELS, self.plug_in, self.figures, self.ceiling, strict=True)
        lines = [f"  {label:<30}" + "".join(f"{figure:>#14.6g}" for figure in figures) for label, *figures in rows]
        holds = "all figures at once" if self.together else "each figure by itself"
        about = f"{self.basis[0].upper()}{self.basis[1:]}: {self.n_records:,}; {holds}."
        return "\n".join([head, *lines, about, f"LDP: {self.because}."])

    __repr__ = __str__


class Design(NamedTuple):
    """How a mechanism came to be that meets its target with confidence; `mechanism.design`.

    redrawn_s, redrawn_x : labels of the s, and of the x, of which all records are redrawn from P_X: too rare to say
        anything about. redrawn : the share of the records whose pair (s, x) is.
    n_fitted, n_held_out : records that it was fitted on, and tested on.
    n_passed, n_steps : how many steps of the path passed before one failed, of how many.
    dtv, dtv_plug_in, dtv_ceiling : the share of records that change; that of the optimum if the fitted P(S, X) were the
        truth; that of Lemma 1 for a ceiling that needs no data. The price of confidence.
    """

    redrawn_s: tuple
    redrawn_x: tuple
    redrawn: float
    n_fitted: int
    n_held_out: int
    n_passed: int
    n_steps: int
    dtv: float
    dtv_plug_in: float
    dtv_ceiling: float

    def __str__(self):
        lines = [
            f"records that change: {self.dtv:.2%} with confidence; {self.dtv_plug_in:.2%} if the fitted P(S, X) were "
            f"the truth; {self.dtv_ceiling:.2%} without trusting any data",
            f"fitted on {self.n_fitted:,} records, tested on {self.n_held_out:,} others; "
            f"{self.n_passed} of {self.n_steps} steps towards less damage passed",
            f"too rare with their s to say anything about, and redrawn from P_X: {self.redrawn:.2%} of the records",
        ]
        for name, labels in (("s", self.redrawn_s), ("x", self.redrawn_x)):
            if labels:
                shown = ", ".join(map(repr, labels[:8])) + (f" and {len(labels) - 8} more" if len(labels) > 8 else "")
                lines.append(f"  among them all with {name} = {shown}")
        return "\n".join(lines)

    __repr__ = __str__
