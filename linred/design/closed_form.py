"""The paper's mechanisms: Lemma 1 and Proposition 1, in closed form."""

from functools import partial

from linred._common import validation
from linred._kernels import coupling as coupling_kernel
from linred.design import calibration, markov_tables
from linred.design.coupling import chosen, coupled
from linred.distribution.linear_reduction import linear_reduction
from linred.mechanism.tables import TableBuilder
from linred.privacy.target import takes_target


@takes_target
def markov(joint, alpha=None, *, target=None):
    """Lemma 1: keep x with probability 1-alpha, else draw from P_X. It does not look at s, and is stored in O(|X|).

    The Markov mechanism that the paper gives, not the best one: that takes a linear programme (errata 4).
    Either alpha is given, or targets in nats: see `non_markov`.

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


@takes_target
def non_markov(joint, alpha=None, *, target=None, distortion=None, coupling="northwest", prefer=None):
    """Proposition 1: for each s, move only what P(x|s) has in excess of P(y|s), to where it is short.

    Parameters
    ----------
    alpha : float, optional
        How far to go. Or, in its place:
    ldp, log_lift : float, optional
        Targets in nats, one or both. alpha is then above `alpha_for` by a margin with which the integers that are
        sampled meet them, not only the formula: `mechanism.sampler().certificate()` is at or under. A target of 0, or
        too small for anything else, gives the mechanism that draws from P_X whatever s and x are.
    distortion : |X| x |X| matrix, optional
        Nonnegative costs with zero diagonal. Then the moves minimise E d(X, Y), exactly and for any such d, and among
        equal costs change the fewest records; see `linred.solvers.transport`.
    coupling : "northwest" or "proportional"
        Which of the couplings that change the fewest records: excess against deficit in alphabet order, at most
        |X| - 1 moves an s; or every excess to all deficits in proportion, one table an s.
    prefer : "information", "sparse" or "smooth", optional
        Or choose among those couplings by what they are good for: a large I(X;Y), found by a local search over vertices
        (seconds for a hundred symbols); few pairs (x, y) with a move; or all of them ("proportional").

    Guarantee
    ---------
    No mechanism with the same P(y|s) changes fewer records or, given a distortion, costs less than by `gap`.
    O(|S||X|) in time and memory without a distortion, and where the distortion is Monge: O(|S||X| + |X|^2).

    >>> from linred import Joint
    >>> joint = Joint.from_conditional([[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7])
    >>> non_markov(joint, 0.5).p_y_given_sx[0].round(12).tolist()[2]
    [0.21, 0.07, 0.72, 0.0]
    """
    validation.joint(joint)
    coupling, distortion = chosen(joint, prefer, distortion, coupling)
    build = partial(_proposition_1, joint, coupling=coupling, distortion=distortion)
    if target is not None:
        return calibration.meeting_by_alpha(joint, target, build, partial(_lemma_1, joint, 1.0))
    return build(validation.alpha(alpha))


def _proposition_1(joint, alpha, coupling, distortion):
    released, delta = linear_reduction(joint, alpha), coupling_kernel.excess(joint.p_x_given_s, joint.p_x, alpha)
    return coupled(joint, released, delta, coupling=coupling, distortion=distortion, name="non_markov", alpha=alpha)
