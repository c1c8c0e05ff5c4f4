"""The paper's mechanisms: Lemma 1 and Proposition 1, in closed form."""

from functools import partial

from linred._common import validation
from linred._common.types import Coupling, LabelMatrix, Prefer
from linred._kernels import coupling as coupling_kernel
from linred.design import calibration, markov_tables
from linred.design.coupling import chosen, coupled
from linred.design.equal_rows import exactly_coupled, independent
from linred.distribution.joint import Joint
from linred.distribution.linear_reduction import linear_reduction
from linred.mechanism.mechanism import Mechanism
from linred.mechanism.tables import TableBuilder
from linred.privacy.takes_target import RATIOS, takes_target
from linred.privacy.target import Target


@takes_target(meets=RATIOS)
def markov(joint: Joint, alpha: float | None = None, *, target: Target | None = None) -> Mechanism:
    """Return the mechanism of Lemma 1: keep x with probability 1-alpha, otherwise draw from P_X.

    It does not use S when sampling, and is stored in O(|X|). It is the paper's Markov mechanism, not the best one. The
    best one takes a linear programme (errata 4): `optimal` with sees_s=False.

    Parameters
    ----------
    joint : Joint
        P(S, X).
    alpha : float, optional
        In [0, 1]. Give alpha or a target, not both.
    ldp, log_lift, max_lift, min_lift, dp, neighbors, pairs, secrets
        The limits of a `linred.Target`, one or several; see `non_markov`.

    >>> from linred import Joint
    >>> joint = Joint.from_conditional([[0.2, 0.8], [0.6, 0.4]], [0.5, 0.5])
    >>> markov(joint, 0.5).p_y_given_x.round(12).tolist()
    [[0.7, 0.3], [0.2, 0.8]]
    """
    validation.joint(joint)
    if target is not None:
        return calibration.meeting_by_alpha(joint, target, partial(_lemma_1, joint), partial(_lemma_1, joint, 1.0))
    return _lemma_1(joint, validation.alpha(alpha))


def _lemma_1(joint, alpha):
    parts = {"keep": 1.0 - alpha, "move": alpha, "table_of": 0, "tables": TableBuilder(joint.p_x).tables()}
    return markov_tables.by_symbol(joint, name="markov", alpha=alpha, **parts)


@takes_target(meets=RATIOS)
def non_markov(
    joint: Joint,
    alpha: float | None = None,
    *,
    target: Target | None = None,
    distortion: LabelMatrix | None = None,
    coupling: Coupling = "northwest",
    prefer: Prefer | None = None,
) -> Mechanism:
    """Return the mechanism of Proposition 1: for each s, move only the excess of P(x|s) over P(y|s) to the deficits.

    P(y|s) = (1-alpha) P(x|s) + alpha P(x), the linear reduction. With alpha = 1, it is sampled in whole numbers where
    they are small enough (`linred.design.equal_rows`): P(y|s) = P(y) then holds exactly.

    Parameters
    ----------
    joint : Joint
        P(S, X).
    alpha : float, optional
        In [0, 1]. Give alpha or a target, not both.
    ldp, log_lift, max_lift, min_lift, dp, neighbors, pairs, secrets
        The limits of a `linred.Target`, one or several. alpha is then `alpha_for` plus a margin, so that not only the
        formula but the sampled integers meet the target: no figure of `sampler().certificate()` exceeds its limit. A
        target of 0, or one too small for the 64-bit tables, gives alpha = 1 in whole numbers, with an LDP of exactly 0,
        if products of counts stay below 2^63. Otherwise y is drawn from P_X independently of s and x, which changes far
        more records.
    distortion : matrix, mapping, function, "absolute" or "squared", optional
        Nonnegative costs, 0 for keeping a symbol, as in `optimal`. The transport plans then minimise E d(X, Y), exactly
        and for any such d, and change the fewest records among plans of equal cost; see `linred.solvers.transport`.
    coupling : {"northwest", "proportional"}, default "northwest"
        Which of the couplings that change the fewest records. "northwest" matches excess with deficit in alphabet
        order, with at most |X| - 1 moves for each s. "proportional" moves every excess to all deficits in proportion,
        with one table for each s.
    prefer : {"information", "sparse", "smooth"}, optional
        Chooses among the same couplings by purpose: "information" for a large I(X;Y), found by a local search over
        vertices (seconds for a hundred symbols); "sparse" for few pairs (x, y) with a move; "smooth" for the
        "proportional" coupling.

    Guarantee
    ---------
    No mechanism with the same P(y|s) changes fewer records. With a distortion, the cost exceeds the least for that
    P(y|s) by at most `gap`. O(|S||X|) in time and memory without a distortion, O(|S||X| + |X|^2) if it is Monge.

    >>> from linred import Joint
    >>> joint = Joint.from_conditional([[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7])
    >>> non_markov(joint, 0.5).p_y_given_sx[0].round(12).tolist()[2]
    [0.21, 0.07, 0.72, 0.0]
    """
    validation.joint(joint)
    coupling, distortion = chosen(joint, prefer, distortion, coupling)
    build = partial(_proposition_1, joint, coupling=coupling, distortion=distortion)
    if target is not None:
        exactly = partial(independent, joint, joint.p_x, "non_markov", coupling=coupling, distortion=distortion)
        return calibration.meeting_by_alpha(joint, target, build, exactly)
    return build(validation.alpha(alpha))


def _proposition_1(joint, alpha, coupling, distortion):
    if alpha == 1.0:
        how = {"coupling": coupling, "distortion": distortion}
        if (exact := exactly_coupled(joint, joint.p_x, joint.p_x, name="non_markov", **how)) is not None:
            return exact
    released, delta = linear_reduction(joint, alpha), coupling_kernel.excess(joint.p_x_given_s, joint.p_x, alpha)
    return coupled(joint, released, delta, coupling=coupling, distortion=distortion, name="non_markov", alpha=alpha)
