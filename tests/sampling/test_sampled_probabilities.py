"""The rows that a sampler's integers realise, against the mechanism's P(y|s,x)."""

import numpy as np
import pytest

from linred.sampling.sampled_probabilities import Realised
from support import populations
from support.joints import adult
from support.mechanisms import MAKERS
from support.stats import dense_rows


@pytest.mark.parametrize("kind", MAKERS)
def test_rows_are_the_channel(kind):
    for joint in (adult(), populations.population("zeros")):
        mechanism = MAKERS[kind](joint)
        realised, expected = Realised(mechanism.sampler()), mechanism.p_y_given_sx
        for s in range(joint.shape[0]):
            rows = realised.of(s)
            matrix = dense_rows(rows)
            assert np.abs(matrix - expected[s]).max() < 1e-14
            low, high = rows.range()
            assert low.tolist() == matrix.min(axis=0).tolist()
            assert high.tolist() == matrix.max(axis=0).tolist()
