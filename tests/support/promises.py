"""Checks, on the dense P(y|s,x), of what every mechanism for a target guarantees."""

import numpy as np


def check_promises(mechanism, keep_marginal=True):
    joint, target = mechanism.joint, mechanism.target
    channel = mechanism.p_y_given_sx
    assert channel.min() >= 0.0
    np.testing.assert_allclose(channel.sum(axis=2), 1.0, rtol=0, atol=1e-13)
    seen = joint.p_s > 0.0
    realised = np.einsum("sx,sxy->sy", joint.p_x_given_s, channel)
    np.testing.assert_allclose(realised[seen], mechanism.p_y_given_s[seen], rtol=1e-11, atol=1e-300)
    p_y = np.einsum("s,sy->y", joint.p_s, realised)
    np.testing.assert_allclose(p_y, joint.p_x if keep_marginal else mechanism.p_y, rtol=0, atol=1e-12)
    unchanged = np.einsum("sx,sxx->", joint.p_sx, channel)
    np.testing.assert_allclose(mechanism.dtv(), 1.0 - unchanged, rtol=0, atol=1e-13)
    assert target.is_met_by(mechanism.sampler().certificate())
    figures = mechanism.report().after
    assert figures.ldp <= target.ldp
    assert figures.log_lift <= target.log_lift
    if not mechanism.sees_s:
        assert (channel == channel[0]).all()
