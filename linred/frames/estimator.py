"""Frames of pandas, Polars and Arrow: public columns are sanitised where they stand, sensitive ones are left out.

`sanitize_frame` applies a mechanism to a frame; `Sanitizer` fits one to a frame first, by the conventions of
scikit-learn. None of the packages is imported: a frame brings its own. A dict of columns is a frame too.
"""

import inspect
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass

from linred._common import validation
from linred.columns import decode, frame_columns
from linred.columns.schema import FitSchema, names, parts_of
from linred.design.fit import FitSettings
from linred.distribution.joint import Joint
from linred.errors import NotFittedError
from linred.privacy.target import Target
from linred.sampling import keystream, sanitize_columns


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
    start=0,
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
    id : name of a column, optional
        Of record ids, as `ids` in `Sampler.sample`: a record gets the same answer wherever it stands. Needs `key`.
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
    {'job': ['a', 'b', 'a'], 'year': [1, 2, 3]}
    """
    if not hasattr(mechanism, "table_of"):
        raise TypeError(f"mechanism is a {type(mechanism).__name__}, not a linred.Mechanism")
    fitted = mechanism.fitted or FitSchema(None, None)
    sensitive = _matched("sensitive", sensitive, fitted.sensitive)
    public = _matched("public", public, fitted.public)
    key = keystream.secret() if key is seed is id is None else key
    how = {"seed": seed, "key": key, "context": context, "start": start, "threads": threads, "unseen": unseen}
    task = _Task.checked(mechanism, sensitive, public, keep_sensitive, columns, id, how)
    return task.lazily(frame) if frame_columns.is_lazy(frame) else task(frame)


def _matched(argument, given, fitted):
    """{name of a column in the frame: its `ColumnSpec`}, in the order that the mechanism's labels have."""
    if given is None and fitted is None:
        raise ValueError(f"{argument} is not given, and the mechanism was not fitted on a frame that would tell it")
    parts = fitted if given is None else parts_of(argument, given)
    if fitted is None or given is None:
        return {part.name: part for part in parts}
    if len(parts) != len(fitted):
        raise ValueError(f"{argument} names {len(parts)} columns; the mechanism was fitted on {_quoted(names(fitted))}")
    same = set(names(parts)) == set(names(fitted))
    return dict(zip(names(fitted if same else parts), fitted, strict=True))


def _quoted(column_names):
    return ", ".join(map(repr, column_names))


@dataclass(frozen=True, repr=False)  # a key is not to be shown
class _Task:
    """What is to be done with a frame, which it is called with; mechanism is None where one is yet to be fitted."""

    mechanism: object
    sensitive: dict
    public: dict
    keep_sensitive: bool
    columns: tuple | None  # of the result, beside the public ones
    id: str | None
    how: dict

    @classmethod
    def checked(cls, mechanism, sensitive, public, keep_sensitive, columns, id, how):
        keep_sensitive = validation.flag("keep_sensitive", keep_sensitive)
        if columns is not None:
            columns = () if isinstance(columns, list | tuple) and not columns else names(parts_of("columns", columns))
        for argument, named in (("public", public), ("columns", () if keep_sensitive else columns or ())):
            for name in named:
                if name in sensitive:
                    raise ValueError(f"{argument} names {name!r}, which is sensitive")
        if id is not None and not isinstance(id, str):
            raise ValueError(f"id is a {type(id).__name__}, not the name of a column")
        if id is not None and how["key"] is None:
            raise ValueError(f"id = {id!r} needs key: without a secret of its own, the same id has no same answer")
        if id in sensitive or id in public:
            raise ValueError(f"id = {id!r} is sensitive or public: all records with one value of it would be one")
        return cls(mechanism, sensitive, public, keep_sensitive, columns, id, how)

    @property
    def sees_s(self):
        return self.mechanism is None or self.mechanism.sees_s

    def check(self, frame, all_names):
        """That columns with a part to play are there once, and S and X not in an index, which would be published."""
        in_index = set(getattr(getattr(frame, "index", None), "names", ()))
        others = {"columns": self.columns or (), "id": () if self.id is None else (self.id,)} if self.mechanism else {}
        for role, named in {"sensitive": self.sensitive, "public": self.public, **others}.items():
            for name in named:
                n_columns = all_names.count(name)
                if n_columns > 1:
                    raise ValueError(f"frame has {n_columns} columns {name!r} ({role})")
                if name in in_index and (name in self.sensitive or name in self.public):
                    raise ValueError(f"frame has {name!r} ({role}) in its index: frame.reset_index() makes it a column")
                if n_columns == 0 and (role != "sensitive" or self.sees_s):
                    raise ValueError(f"frame has no column {name!r} ({role}), only {validation.shortened(all_names)}")

    def places(self, all_names):
        """Those of the columns that the result has."""
        left_out = () if self.keep_sensitive else self.sensitive
        chosen = all_names if self.columns is None else (*self.columns, *self.public)
        return [place for place, name in enumerate(all_names) if name in chosen and name not in left_out]

    def __call__(self, frame):
        columns = frame_columns.columns_of(frame)
        all_names, by_name, joint = [name for name, _ in columns], dict(columns), self.mechanism.joint
        self.check(frame, all_names)
        s = (
            frame_columns.as_labels_are("sensitive", frame_columns.read(self.sensitive, by_name), joint.s_labels)
            if self.sees_s
            else None
        )
        x = frame_columns.as_labels_are("public", frame_columns.read(self.public, by_name), joint.x_labels)
        with _told_of(s=self.sensitive, x=self.public, ids=[self.id]):
            y = self.mechanism.sanitize(s, x, ids=None if self.id is None else by_name[self.id], **self.how)
        y = y if isinstance(x, dict) else dict.fromkeys(self.public, y)
        binned = [name for name, part in self.public.items() if part.edges]
        drawn = y | {name: frame_columns.as_text(by_name[name], y[name]) for name in binned}
        return frame_columns.assembled(frame, columns, self.places(all_names), drawn)

    def lazily(self, frame):
        """The LazyFrame of it. A predicate that were pushed down would choose records by the x that is to be hidden;
        and records are drawn by their numbers, so that the frame must come whole."""
        schema = frame.collect_schema()
        result = self(sys.modules["polars"].DataFrame(schema=schema))  # of no records: what is wrong is said now
        needed = {*result.columns, self.id, *(self.sensitive if self.sees_s else ())}
        optimisations = ("predicate_pushdown", "projection_pushdown", "slice_pushdown", "streamable")
        return frame.select([name for name in schema.names() if name in needed]).map_batches(
            self, schema=result.schema, **dict.fromkeys(optimisations, False)
        )


@contextmanager
def _told_of(**arguments):
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


class Sanitizer:
    """Fits a mechanism to a frame, and sanitises frames by it: fit and transform as in scikit-learn.

    Parameters
    ----------
    sensitive, public : name of a column, or list of names
        The columns S and X; several are one composite symbol.
    ldp, log_lift, alpha, mechanism, sees_s : as in `linred.fit`
        Targets in nats, or alpha; "optimal", "non_markov", "markov" or a function of a Joint and of these; whether a
        draw may depend on s: if not, frames to transform may lack S.
    bins : {name: edges}, optional
        Sensitive or public columns of numbers that are sorted into bins.
    keep_sensitive, columns, unseen, seed, key, context, id : as in `sanitize_frame`

    Attributes
    ----------
    mechanism_ : the Mechanism, with these columns as its `fitted`.
    feature_names_in_, n_features_in_ : the columns of the frame that it was fitted on, and their number.

    Guarantee
    ---------
    That of the mechanism, for the records of the fit: alphabets are read off that data, and figures are of it; for any
    other data they are estimates. `fit` looks at the settings, and changes nothing where one is wrong. The key is not
    shown, but pickle and `get_params` give it away.

    >>> frame = {"sex": ["f", "m", "m", "f"] * 9, "job": ["a", "b", "a", "a"] * 9, "year": [1, 2, 3, 4] * 9}
    >>> sanitizer = Sanitizer("sex", "job", ldp=0.5, seed=3)
    >>> sanitizer.fit_transform(frame)["job"][:4]
    ['b', 'b', 'a', 'a']
    >>> sanitizer.get_feature_names_out().tolist(), sanitizer
    (['job', 'year'], Sanitizer(sensitive='sex', public='job', ldp=0.5, seed=3))
    """

    def __init__(
        self,
        sensitive,
        public,
        *,
        ldp=None,
        log_lift=None,
        alpha=None,
        mechanism="optimal",
        sees_s=True,
        bins=None,
        keep_sensitive=False,
        columns=None,
        unseen="error",
        seed=None,
        key=None,
        context=b"",
        id=None,
    ):
        self.sensitive, self.public, self.mechanism, self.sees_s, self.bins = sensitive, public, mechanism, sees_s, bins
        self.ldp, self.log_lift, self.alpha = ldp, log_lift, alpha
        self.keep_sensitive, self.columns, self.unseen = keep_sensitive, columns, unseen
        self.seed, self.key, self.context, self.id = seed, key, context, id

    def fit(self, frame, y=None):
        """Fit a mechanism to the records of a frame. y is not looked at; of a LazyFrame, S and X are collected."""
        task = self._task()
        lazy = frame_columns.is_lazy(frame)
        all_names = frame.collect_schema().names() if lazy else [name for name, _ in frame_columns.columns_of(frame)]
        task.check(frame, all_names)
        by_name = dict(
            frame_columns.columns_of(frame.select([*task.sensitive, *task.public]).collect() if lazy else frame)
        )
        if not len(by_name[next(iter(task.public))]):
            raise ValueError("frame has no records to fit on")
        read = (frame_columns.read(parts, by_name) for parts in (task.sensitive, task.public))
        with _told_of(s=task.sensitive, x=task.public):
            joint = Joint.from_records(*(one if len(one) > 1 else next(iter(one.values())) for one in read))
        fitted = FitSchema(*(tuple(parts.values()) for parts in (task.sensitive, task.public)))
        self.mechanism_ = self._settings().mechanism_for(joint).replace(fitted=fitted)
        self.n_features_in_ = len(all_names)
        self.feature_names_in_ = decode._objects(all_names)
        return self

    def _settings(self):
        limits = {name: getattr(self, name) for name in Target._fields}
        return FitSettings.checked(self.mechanism, self.alpha, limits, self.sees_s)

    def _how(self):
        return {name: getattr(self, name) for name in ("seed", "key", "context", "unseen")}

    def _task(self):
        """What the settings say, or a ValueError that names the one that is wrong."""
        self._settings()
        sides = {side: names(parts_of(side, getattr(self, side))) for side in ("sensitive", "public")}
        bins = _checked_bins(self.bins, sides["sensitive"] + sides["public"])
        parts = ({part.name: part for part in parts_of(side, named, bins)} for side, named in sides.items())
        task = _Task.checked(None, *parts, self.keep_sensitive, self.columns, self.id, self._how())
        sanitize_columns.check_policy(self.unseen)
        keystream.secret(self.key, self.seed)
        keystream.context_bytes(self.context)
        return task

    def transform(self, frame):
        """The sanitised frame: see `sanitize_frame`. Without key or seed, each call draws anew."""
        about = {name: getattr(self, name) for name in ("keep_sensitive", "columns", "id")}
        return sanitize_frame(frame, self._fitted("transform").mechanism_, **about, **self._how())

    def fit_transform(self, frame, y=None):
        """fit and transform, of one frame."""
        return self.fit(frame, y).transform(frame)

    def _fitted(self, wanted):
        if not hasattr(self, "mechanism_"):
            raise NotFittedError(f"this Sanitizer is not fitted: call fit(frame) before {wanted}")
        return self

    def get_feature_names_out(self, input_features=None):
        """The names of the columns that transform leaves of those that fit has seen."""
        all_names = self._fitted("get_feature_names_out").feature_names_in_.tolist()
        if input_features is not None and list(input_features) != all_names:
            raise ValueError(f"input_features is not feature_names_in_, {validation.shortened(all_names)}")
        sensitive, public = ({part.name: part for part in side} for side in self.mechanism_.fitted[:2])
        about = self.keep_sensitive, self.columns, self.id
        places = _Task.checked(self.mechanism_, sensitive, public, *about, self._how()).places(all_names)
        return decode._objects([all_names[place] for place in places])

    def get_params(self, deep=True):
        """All settings by name, the key too."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params):
        """Change settings by name."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(f"{name!r} is not a parameter of {type(self).__name__}: {', '.join(known)}")
        self.__dict__.update(params)
        return self

    def __sklearn_tags__(self):
        """What scikit-learn asks of a step in a pipeline; as it asks, it is there to import from."""
        from sklearn.base import BaseEstimator
        from sklearn.utils import TransformerTags

        tags = BaseEstimator().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        return tags

    def __repr__(self):
        shown = []
        for name, parameter in inspect.signature(type(self)).parameters.items():
            value = getattr(self, name)
            if repr(value) != repr(parameter.default):
                shown.append(f"{name}={'<hidden>' if name == 'key' else repr(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _checked_bins(bins, column_names):
    """{name: edges}, each name being one of the columns, each with an edge."""
    if bins is not None and not isinstance(bins, dict):
        raise ValueError(f"bins is a {type(bins).__name__}, not a dict of column names and edges")
    for name, edges in (bins or {}).items():
        if name not in column_names:
            raise ValueError(f"bins names {name!r}, which is neither sensitive nor public")
        if isinstance(edges, str | bytes) or not hasattr(edges, "__len__") or len(edges) == 0:
            raise ValueError(f"bins of {name!r}: {validation.shortened(edges)} is not a list of edges")
    return bins
