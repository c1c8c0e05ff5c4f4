"""`sanitize_frame`: sanitises the public columns of a frame in place and drops the sensitive ones.

Frames are those of pandas, Polars and Arrow, and dicts of columns; `linred.columns.adapters` knows their packages.
"""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from linred._common import validation
from linred.columns.adapters.derived import BinnedColumn
from linred.columns.adapters.kinds import adapter_of, frame_of, passing, symbol_of
from linred.columns.labels import KINDS, kind_of
from linred.columns.missing import is_missing
from linred.columns.record_ids import plain_ids
from linred.columns.repeated_ids import RepeatedIds
from linred.columns.schema import missing_column, names, parts_of, withheld_names
from linred.errors import UnseenError
from linred.sampling import keystream

if TYPE_CHECKING:
    from linred._common.types import Context, Frame, Key, Names, Unseen
    from linred.mechanism.mechanism import Mechanism


def sanitize_frame(
    frame: Frame,
    mechanism: Mechanism,
    *,
    sensitive: Names | None = None,
    public: Names | None = None,
    keep_sensitive: bool = False,
    columns: Names | None = None,
    keep_metadata: bool = False,
    seed: int | None = None,
    key: Key | None = None,
    context: Context = b"",
    id: Names | None = None,
    start: int | None = None,
    threads: int | None = None,
    unseen: Unseen = "error",
) -> Any:
    """Return the frame with its public columns sanitised and without its sensitive columns.

    Parameters
    ----------
    frame : pandas or Polars DataFrame, Polars LazyFrame, Arrow Table or RecordBatch, dict of columns
    mechanism : Mechanism
    sensitive, public : name of a column, or list of names, optional
        The columns S and X. The default is the columns that the mechanism was fitted on (`mechanism.fitted`). Several
        columns are one composite symbol. If the mechanism does not use S when sampling, the frame may lack S.
    keep_sensitive : bool
        Keep the sensitive columns, for your own checks. Do not publish the result.
    columns : list of names, optional
        Columns of the result beside the public ones; by default all but the sensitive ones. Their order stays the same.
    keep_metadata : bool
        Keep `DataFrame.attrs` of pandas and metadata of an Arrow schema and its fields. They may contain values of S.
    id : name of a column, or list of names, optional
        The column of record ids, or the columns of composite ids, as `ids` in `Sampler.sample`: a record gets the same
        answer in any position. Needs `key`. Warns if ids occur with different values of S or X; up to a million ids are
        checked.
    seed, key, context, start, threads, unseen : as in `Mechanism.sanitize`

    Guarantee
    ---------
    The values are those of `mechanism.sanitize` on the same columns. Columns keep their place, name and type, and a
    pandas frame keeps its index; a public column that is sorted into bins becomes text. All other columns keep their
    values and reveal about S what they revealed before. The frame that is given is not changed.

    The result holds no values but those of its records. The dictionary or the categories of a public column are the
    labels of the mechanism. Those of any other column are the values that occur in it: sorted, or in their own order if
    they are ordered. Values hidden by a null or a mask, or left over from a slice or a filter, are not copied. Two
    limits: NumPy arrays and pandas columns may be views of the memory of the frame, and unions, run-end-encoded arrays
    and list views of Arrow pass as they are.

    The result of a LazyFrame is lazy. Its key is drawn by this call and not by each collect, so two collects agree if
    the rows arrive in the same order or have an `id`. Until it is collected, it holds the frame, the mechanism and the
    key: do not publish it, pickled or serialized. An Enum that passes becomes a Categorical, because a lazy frame
    declares its types before its values are known.

    >>> from linred import Joint, markov
    >>> mechanism = markov(Joint.from_records(["f", "m", "m", "f"], ["a", "b", "a", "a"]), 0.5)
    >>> frame = {"sex": ["f", "m", "f"], "job": ["a", "b", "b"], "year": [1, 2, 3]}
    >>> sanitize_frame(frame, mechanism, sensitive="sex", public="job", seed=2)
    {'job': ['a', 'a', 'b'], 'year': [1, 2, 3]}
    """
    validation.mechanism(mechanism)
    fitted = mechanism.fitted
    sensitive = _matched("sensitive", sensitive, fitted and fitted.sensitive)
    public = _matched("public", public, fitted and fitted.public)
    keystream.secret(key, seed)
    keystream.check_key_use(key, id, start, context, name="id")
    if key is seed is id is None:
        key, start = keystream.secret(), 0 if start is None else start
    of_result = {"keep_sensitive": keep_sensitive, "columns": columns, "keep_metadata": keep_metadata, "id": id}
    how = {"seed": seed, "key": key, "context": context, "start": start, "threads": threads, "unseen": unseen}
    task = FrameTask(mechanism, sensitive, public, **of_result, **how)
    return frame_of(frame).mapped(task, {*task.id, *(task.sensitive if task.sees_s else ())})


def _matched(argument, given, fitted):
    """Return `ColumnSpec`s of the columns in the frame, in the order of the parts of the mechanism's labels."""
    if given is None and fitted is None:
        raise ValueError(f"{argument}= is missing: this mechanism was not fitted on named columns, so name them here")
    parts = fitted if given is None else parts_of(argument, given)
    if fitted is None:
        return parts
    if len(parts) != len(fitted):
        raise ValueError(f"{argument} names {len(parts)} columns; the mechanism was fitted on {_quoted(names(fitted))}")
    if set(names(parts)) == set(names(fitted)):
        return fitted
    return tuple(spec.renamed(part.name) for spec, part in zip(fitted, parts, strict=True))


def _quoted(column_names):
    return ", ".join(map(repr, column_names))


class FrameTask:
    """A callable that sanitises a frame; mechanism is None while one is still to be fitted.

    sensitive, public: `ColumnSpec`s, kept as {name: `ColumnSpec`}. All other arguments: as in `sanitize_frame`.
    """

    def __init__(self, mechanism, sensitive, public, *, keep_sensitive, columns, id, keep_metadata=False, **how):
        self.keep_sensitive = validation.flag("keep_sensitive", keep_sensitive)
        self.withheld = () if keep_sensitive else withheld_names(sensitive, public)
        sensitive, public = ({part.name: part for part in parts} for parts in (sensitive, public))
        self.mechanism, self.sensitive, self.public, self.how = mechanism, sensitive, public, how
        self.id = () if id is None else names(parts_of("id", id))
        self.keep_metadata = validation.flag("keep_metadata", keep_metadata)
        if columns is not None:
            columns = () if isinstance(columns, list | tuple) and not columns else names(parts_of("columns", columns))
        for argument, named, refused in (("public", public, sensitive), ("columns", columns or (), self.withheld)):
            for name in named:
                if name in refused:
                    raise ValueError(f"{argument} names {name!r}, which is sensitive")
        if self.id and how["key"] is None:
            raise ValueError("id needs key: only a call with the same key gives the same id the same answer")
        for name in self.id:
            if name in sensitive or name in public:
                raise ValueError(f"id names {name!r}, which is sensitive or public: an id must name one record")
        self.how["context"] = keystream.context_of_columns(how["context"], self.public.values())
        self.columns, self.sees_s = columns, mechanism is None or mechanism.sees_s

    def check(self, frame, all_names):
        """Raise a ValueError unless each column that is needed is there once, and S and X are not in the index."""
        others = {"columns": self.columns or (), "id": self.id} if self.mechanism else {}
        roles = {"sensitive": self.sensitive, "public": self.public, **others}
        asked = [name for named in roles.values() for name in named]
        for role, named in roles.items():
            for name in named:
                n_columns = all_names.count(name)
                if n_columns > 1:
                    raise ValueError(f"frame has {n_columns} columns {name!r} ({role}): rename all but one")
                if name in frame.index_names and (name in self.sensitive or name in self.public):
                    raise ValueError(f"frame has {name!r} ({role}) in its index: frame.reset_index() makes it a column")
                if n_columns == 0 and (role != "sensitive" or self.sees_s):
                    raise ValueError(missing_column("frame", name, asked, all_names, role))

    def places(self, all_names):
        """Return the places of the columns of the result."""
        chosen = all_names if self.columns is None else (*self.columns, *self.public)
        return [place for place, name in enumerate(all_names) if name in chosen and name not in self.withheld]

    def __call__(self, frame):
        frame, joint = frame_of(frame), self.mechanism.joint
        columns, all_names = frame.columns(), frame.names
        by_name = dict(columns)
        self.check(frame, all_names)
        s = _as_labels_are("sensitive", read_columns(self.sensitive, by_name), joint.s_labels) if self.sees_s else None
        x = _as_labels_are("public", read_columns(self.public, by_name), joint.x_labels)
        with naming_columns(s=self.sensitive, x=self.public, ids=self.id):
            ids = symbol_of("ids", {name: by_name[name] for name in self.id}) if self.id else None
            y = self.mechanism.sanitize(s, x, ids=ids, **self.how)
            if self.id:
                self._warn_of_repeated(ids, s, x)
        drawn = y if isinstance(x, dict) else dict.fromkeys(self.public, y)
        places, new = self.places(all_names), {}
        for place in places:
            name, column = columns[place]
            of_result = drawn[name] if name in drawn else passing(name, column)
            if of_result is not column:
                new[place] = of_result
        return frame.replaced(places, new, self.keep_metadata)

    def _warn_of_repeated(self, ids, s, x):
        joint, repeated = self.mechanism.joint, RepeatedIds()
        s_codes = None if s is None else joint.s_encoder.codes("s", s)
        repeated.add(plain_ids(ids, len(ids)), joint.x_encoder.codes("x", x), s_codes)
        text = repeated.warning("id")
        if text:
            warnings.warn(text, stacklevel=5)


def read_columns(specs, by_name):
    """Return {name: column}, with numbers in their bins if the `ColumnSpec` has some."""
    return {
        name: BinnedColumn(spec, adapter_of(f"column {name!r}", by_name[name])) if spec.edges else by_name[name]
        for name, spec in specs.items()
    }


def _as_labels_are(role, by_name, labels):
    """Return the table of the columns if labels are tuples of their values, and otherwise the only column."""
    known = [label for label in labels if label is not None]
    of_table = bool(known) and all(isinstance(label, tuple) and len(label) == len(by_name) for label in known)
    if len(by_name) > 1 and not of_table:
        what = f"not every label of the mechanism is a tuple of {len(by_name)} values"
        raise ValueError(f"{role} names {len(by_name)} columns, but {what}")
    for place, (name, column) in enumerate(by_name.items()):
        _check_kind(f"column {name!r}", column, [label[place] for label in known] if of_table else known)
    return by_name if of_table else next(iter(by_name.values()))


_ALIKE, FIRST_RECORDS = {"true or false": "numbers", "whole numbers": "numbers"}, 100


def _check_kind(name, column, labels):
    """Raise a ValueError if the first values are of another kind than the labels, such as text instead of numbers."""
    column = adapter_of(name, column)
    values = [column.value_at(record) for record in range(min(FIRST_RECORDS, len(column)))]
    found, expected = kind_of([None if is_missing(value) else value for value in values]), kind_of(labels)
    are_known = {found, expected} <= {*KINDS.values(), "tuple"}
    if are_known and _ALIKE.get(found, found) != _ALIKE.get(expected, expected):
        raise ValueError(f"{name} has {found}; the mechanism was made for {expected}")


@contextmanager
def naming_columns(**arguments):
    """Rewrite a ValueError about s, x or ids so that it names their columns."""
    try:
        yield
    except ValueError as error:
        message = str(error).replace("\n", " ")
        for argument, named in arguments.items():
            one = re.match(rf"{argument}\[({'|'.join(re.escape(repr(name)) for name in named)})\]", message)
            if one:
                message = f"column {one[1]}{message[one.end() :]}"
            elif re.match(rf"{argument}(\[| is | has )", message):
                columns = f"column {_quoted(named)}" if len(named) == 1 else f"columns ({_quoted(named)})"
                message = columns + message.removeprefix(argument)
        if isinstance(error, UnseenError):  # callers read its `value`, so it stays the same object
            error.args = (message,)
            raise
        raise ValueError(message) from None
