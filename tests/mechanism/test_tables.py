"""`TableBuilder`: rows of probabilities in compressed form, and back."""

import numpy as np

from linred.mechanism.tables import TableBuilder


def test_tables_are_the_rows_that_were_added():
    rows = np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.25, 0.25, 0.5]])
    builder = TableBuilder(rows[0])
    assert [builder.add(row) for row in rows[1:]] == [1, 2, 3]
    tables = builder.tables()
    dense = np.zeros(rows.shape)
    for number, (begin, end) in enumerate(zip(tables.indptr[:-1], tables.indptr[1:], strict=True)):
        dense[number, tables.y[begin:end]] = tables.probability[begin:end]
    np.testing.assert_array_equal(dense, rows)
    assert tables.y.dtype == np.int32
    assert (tables.probability > 0.0).all()
