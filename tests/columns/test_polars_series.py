"""Columns and frames of Polars, lazy ones too."""

import polars as pl
import pytest

import linred
from support.frames import (
    DATA,
    EXPECTED,
    JOINT,
    KEY,
    MARKOV,
    MECHANISM,
    NAMED,
)


def test_polars_nanoseconds_are_refused():
    with pytest.raises(ValueError, match=r"x is a Polars column of Datetime\(.*ns.* cast it to microseconds"):
        linred.Joint.from_records([0, 1], pl.Series([1, 1500]).cast(pl.Datetime("ns")))


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["bb", "a", "ccc"])], ids=["Categorical", "Enum"])
def test_polars_categories(dtype):
    frame = pl.DataFrame(DATA).with_columns(pl.col("job").cast(dtype), pl.col("sex").cast(pl.Categorical))
    result = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY, start=0)
    assert result["job"].to_list() == EXPECTED
    assert result["job"].dtype == dtype
    lazy = linred.sanitize_frame(frame.lazy(), MECHANISM, **NAMED, key=KEY, start=0)
    assert lazy.collect_schema() == result.schema
    assert lazy.collect().equals(result)


def test_two_collects_of_a_lazy_frame_agree():
    """Each with its own key would average the noise away."""
    lazy = linred.sanitize_frame(pl.LazyFrame(DATA), MECHANISM, **NAMED)
    assert lazy.collect().equals(lazy.collect())
    other = linred.sanitize_frame(pl.LazyFrame(DATA), MECHANISM, **NAMED)
    assert not lazy.collect().equals(other.collect())


def test_what_follows_on_a_lazy_frame_is_about_what_is_published():
    """A filter that is pushed down would be about x; records that are left out before the draw would number others."""
    frame = pl.DataFrame(DATA)
    eager = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY, start=0)
    parts = pl.concat([frame[:100].lazy(), frame[100:].lazy()])
    lazy = linred.sanitize_frame(parts, MECHANISM, **NAMED, key=KEY, start=0)
    for then in (
        lambda f: f.filter(pl.col("job") == "bb"),
        lambda f: f.filter(pl.col("year") == 2001).select("job"),
        lambda f: f.slice(300, 40),
        lambda f: f.tail(3),
        lambda f: f.select("year"),
        lambda f: f.filter(pl.col("age") > 30).group_by("job").len().sort("job"),
    ):
        assert then(lazy).collect().equals(then(eager))


def test_lazy_frames_read_what_they_need():
    read = []

    def note(frame):
        read.append(frame.columns)
        return frame

    lazy = pl.LazyFrame(DATA).map_batches(note, projection_pushdown=True, validate_output_schema=False)
    linred.sanitize_frame(lazy, MARKOV, **NAMED, columns=["job"]).collect()
    linred.Sanitizer("sex", "job", alpha=0.5, mechanism="markov").fit(lazy)
    assert [sorted(columns) for columns in read if "year" in columns] == []
    assert len(read) == 2


def test_types_of_lazy_frames_are_refused_before_they_are_collected():
    with pytest.raises(
        ValueError, match=r"^column 'year' is a polars.*Series of Int64, which cannot hold label 0 of the"
    ):
        linred.sanitize_frame(pl.LazyFrame(DATA), MECHANISM, sensitive="sex", public="year")


def test_codes_of_a_categorical_do_not_depend_on_what_came_before():
    late = pl.Series(["zz", "bb", "a", "ccc"], dtype=pl.Categorical)[1:]
    early = pl.Series(["ccc", "a", "bb"], dtype=pl.Categorical).reverse()
    assert linred.Joint.from_records([0] * 3, late).x_labels == ("a", "bb", "ccc")
    assert linred.Joint.from_records([0] * 3, early).x_labels == ("a", "bb", "ccc")
    encoder = JOINT.x_encoder
    assert encoder.codes("x", late).tolist() == encoder.codes("x", early).tolist() == [1, 0, 2]
