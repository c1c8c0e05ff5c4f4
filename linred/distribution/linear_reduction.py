"""The linear reduction: from the joint distribution of S and X to that of S and Y."""

from __future__ import annotations

from linred._common import validation
from linred.distribution.joint import Joint


def linear_reduction(joint: Joint, alpha: float) -> Joint:
    """Return the Joint of S and Y with P(y|s) = (1-alpha) P(x|s) + alpha P(x), equation (3). O(|S||X|).

    Guarantee
    ---------
    P_Y equals P_X to the last bit. With alpha = 1 every P(y|s) does too, and every measure is exactly 0.

    >>> joint = Joint.from_conditional([[0.2, 0.8], [0.6, 0.4]], [0.5, 0.5])
    >>> linear_reduction(joint, 0.5).p_x_given_s.round(12).tolist()
    [[0.3, 0.7], [0.5, 0.5]]
    """
    validation.joint(joint)
    alpha = validation.alpha(alpha)
    p_y_given_s = (1.0 - alpha) * joint.p_x_given_s + alpha * joint.p_x
    return Joint.from_parts(p_y_given_s, joint.p_s, joint.p_x, joint.s_labels, joint.x_labels)
