"""`sanitize_frame`: public columns are sanitised where they stand, sensitive ones are left out.

Frames are those of pandas, Polars and Arrow, and dicts of columns; what is known of each is in
`linred.columns.adapters`.
"""

import re
from contextlib import contextmanager

from linred._common import validation
from linred.columns.adapters.derived import BinnedColumn
from linred.columns.adapters.kinds import adapter_of, frame_of, symbol_of
from linred.columns.labels import KINDS, kind_of
from linred.columns.missing import is_missing
from linred.columns.schema import FitSchema, names, parts_of
from linred.sampling import keystream


def sanitize_frame(
    frame,
    mechanism,
    *,
    sensitive=None,
    public=None,
    keep_sensitive=False,
    columns=None,
    seed=None,
    key=None,
    context=b"",
    id=None,
    start=None,
    threads=None,
    unseen="error",
):
    """The frame with its public columns sanitised and its sensitive ones left out.

    Parameters
    ----------
    frame : pandas or Polars DataFrame, Polars LazyFrame, Arrow Table or RecordBatch, dict of columns
    mechanism : Mechanism
    sensitive, public : name of a column, or list of names, optional
        The columns S and X: those that the mechanism was fitted on (`mechanism.fitted`), unless they have other names
        here. Several are one composite symbol. Where the mechanism does not see s, the frame may lack S.
    keep_sensitive : bool
        Leave the sensitive columns in: to see what happened, not to be published.
    columns : list of names, optional
        The columns of the result beside the public ones, in the frame's order as ever. All, otherwise.
    id : name of a column, or list of names, optional
        The column of record ids, or the columns of composite ids, as `ids` in `Sampler.sample`: a record gets the same
        answer wherever it stands. Needs `key`.
    seed, key, context, start, threads, unseen : as in `Mechanism.sanitize`

    Guarantee
    ---------
    The values are those of `mechanism.sanitize` on the same columns. Columns keep their place, name and type, a pandas
    frame its index; a public column that is sorted into bins becomes text. All other columns are as they were: what
    they tell about S, they still tell, and so do the metadata of an Arrow schema. The frame that is given is not
    changed. A LazyFrame stays lazy, and its key is drawn here, not at each collect: two collects agree, as long as the
    rows come in one order, or have an `id`.

    >>> from linred import Joint, markov
    >>> mechanism = markov(Joint.from_records(["f", "m", "m", "f"], ["a", "b", "a", "a"]), 0.5)
    >>> frame = {"sex": ["f", "m", "f"], "job": ["a", "b", "b"], "year": [1, 2, 3]}
    >>> sanitize_frame(frame, mechanism, sensitive="sex", public="job", seed=2)
    {'job': ['a', 'a', 'b'], 'year': [1, 2, 3]}
    """
    validation.mechanism(mechanism)
    fitted = mechanism.fitted or FitSchema(None, None)
    sensitive = _matched("sensitive", sensitive, fitted.sensitive)
    public = _matched("public", public, fitted.public)
    keystream.secret(key, seed)
    keystream.check_key_use(key, id, start, context)
    if key is seed is id is None:
        key, start = keystream.secret(), 0 if start is None else start
    of_result = {"keep_sensitive": keep_sensitive, "columns": columns, "id": id}
    how = {"seed": seed, "key": key, "context": context, "start": start, "threads": threads, "unseen": unseen}
    task = FrameTask(mechanism, sensitive, public, **of_result, **how)
    return frame_of(frame).mapped(task, {*task.id, *(task.sensitive if task.sees_s else ())})


def _matched(argument, given, fitted):
    """`ColumnSpec`s of the columns in the frame, in the order that the mechanism's labels have."""
    if given is None and fitted is None:
        raise ValueError(f"{argument} is not given, and the mechanism was not fitted on a frame that would tell it")
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
    """What is to be done with a frame, which it is called with; mechanism is None where one is yet to be fitted.

    sensitive, public: `ColumnSpec`s, which it has as {name: `ColumnSpec`}. All else: as in `sanitize_frame`.
    """

    def __init__(self, mechanism, sensitive, public, *, keep_sensitive, columns, id, **how):
        sensitive, public = ({part.name: part for part in parts} for parts in (sensitive, public))
        self.mechanism, self.sensitive, self.public, self.how = mechanism, sensitive, public, how
        self.id = () if id is None else names(parts_of("id", id))
        self.keep_sensitive = validation.flag("keep_sensitive", keep_sensitive)
        if columns is not None:
            columns = () if isinstance(columns, list | tuple) and not columns else names(parts_of("columns", columns))
        for argument, named in (("public", public), ("columns", () if keep_sensitive else columns or ())):
            for name in named:
                if name in sensitive:
                    raise ValueError(f"{argument} names {name!r}, which is sensitive")
        if self.id and how["key"] is None:
            raise ValueError("id needs key: only a call with the same key gives the same id the same answer")
        for name in self.id:
            if name in sensitive or name in public:
                raise ValueError(f"id names {name!r}, which is sensitive or public: an id must name one record")
        self.how["context"] = keystream.context_of_columns(how["context"], self.public.values())
        self.columns, self.sees_s = columns, mechanism is None or mechanism.sees_s

    def check(self, frame, all_names):
        """That columns with a part to play are there once, and S and X not in an index, which would be published."""
        others = {"columns": self.columns or (), "id": self.id} if self.mechanism else {}
        for role, named in {"sensitive": self.sensitive, "public": self.public, **others}.items():
            for name in named:
                n_columns = all_names.count(name)
                if n_columns > 1:
                    raise ValueError(f"frame has {n_columns} columns {name!r} ({role})")
                if name in frame.index_names and (name in self.sensitive or name in self.public):
                    raise ValueError(f"frame has {name!r} ({role}) in its index: frame.reset_index() makes it a column")
                if n_columns == 0 and (role != "sensitive" or self.sees_s):
                    raise ValueError(f"frame has no column {name!r} ({role}), only {validation.shortened(all_names)}")

    def places(self, all_names):
        """Those of the columns that the result has."""
        left_out = () if self.keep_sensitive else self.sensitive
        chosen = all_names if self.columns is None else (*self.columns, *self.public)
        return [place for place, name in enumerate(all_names) if name in chosen and name not in left_out]

    def __call__(self, frame):
        frame, joint = frame_of(frame), self.mechanism.joint
        by_name, all_names = dict(frame.columns()), frame.names
        self.check(frame, all_names)
        s = _as_labels_are("sensitive", read_columns(self.sensitive, by_name), joint.s_labels) if self.sees_s else None
        x = _as_labels_are("public", read_columns(self.public, by_name), joint.x_labels)
        with naming_columns(s=self.sensitive, x=self.public, ids=self.id):
            ids = symbol_of("ids", {name: by_name[name] for name in self.id}) if self.id else None
            y = self.mechanism.sanitize(s, x, ids=ids, **self.how)
        drawn = y if isinstance(x, dict) else dict.fromkeys(self.public, y)
        return frame.replaced(self.places(all_names), {all_names.index(name): drawn[name] for name in drawn})


def read_columns(specs, by_name):
    """{name: column}, numbers in their bins where a `ColumnSpec` has some."""
    return {
        name: BinnedColumn(spec, adapter_of(f"column {name!r}", by_name[name])) if spec.edges else by_name[name]
        for name, spec in specs.items()
    }


def _as_labels_are(role, by_name, labels):
    """A table where labels are tuples of its columns' values, the only column otherwise."""
    known = [label for label in labels if label is not None]
    of_table = bool(known) and all(isinstance(label, tuple) and len(label) == len(by_name) for label in known)
    if len(by_name) > 1 and not of_table:
        raise ValueError(f"{role} names {len(by_name)} columns, and {known[0]!r} is a label of the mechanism")
    for place, (name, column) in enumerate(by_name.items()):
        _check_kind(f"column {name!r}", column, [label[place] for label in known] if of_table else known)
    return by_name if of_table else next(iter(by_name.values()))


_ALIKE, FIRST_RECORDS = {"true or false": "numbers", "whole numbers": "numbers"}, 100


def _check_kind(name, column, labels):
    """That the first values are not all text where labels are numbers, say."""
    column = adapter_of(name, column)
    values = [column.value_at(record) for record in range(min(FIRST_RECORDS, len(column)))]
    found, expected = kind_of([None if is_missing(value) else value for value in values]), kind_of(labels)
    are_known = {found, expected} <= {*KINDS.values(), "tuple"}
    if are_known and _ALIKE.get(found, found) != _ALIKE.get(expected, expected):
        raise ValueError(f"{name} has {found}; the mechanism was made for {expected}, as {labels[0]!r}")


@contextmanager
def naming_columns(**arguments):
    """A ValueError about s, x or ids becomes one about the columns that these are."""
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
        raise ValueError(message) from None
