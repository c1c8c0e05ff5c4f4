"""`Sanitizer`: fits a mechanism to a frame, and sanitises frames by it, by the conventions of scikit-learn."""

import inspect

from linred._common import validation
from linred.columns.adapters.kinds import frame_of, symbol_of
from linred.columns.alphabet import as_objects
from linred.columns.schema import FitSchema, names, parts_of
from linred.design.fit import FitSettings
from linred.distribution.joint import Joint
from linred.errors import NotFittedError
from linred.frames.sanitize_frame import FrameTask, naming_columns, read_columns, sanitize_frame
from linred.privacy.target import Target
from linred.sampling import keystream, sanitize_columns


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
    ['a', 'b', 'a', 'a']
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
        limits = {name: getattr(self, name) for name in Target._fields}
        settings = FitSettings.checked(self.mechanism, self.alpha, limits, self.sees_s)
        task, frame = self._task(), frame_of(frame)
        all_names = frame.names
        task.check(frame, all_names)
        by_name = dict(frame.in_memory([*task.sensitive, *task.public]).columns())
        if not len(by_name[next(iter(task.public))]):
            raise ValueError("frame has no records to fit on")
        sides = {"s": task.sensitive, "x": task.public}
        with naming_columns(**sides):
            s, x = (symbol_of(name, read_columns(specs, by_name)) for name, specs in sides.items())
            joint = Joint.from_records(s, x)
        fitted = FitSchema(tuple(task.sensitive.values()), tuple(task.public.values()))
        self.mechanism_ = settings.mechanism_for(joint).replace(fitted=fitted)
        self.n_features_in_ = len(all_names)
        self.feature_names_in_ = as_objects(all_names)
        return self

    def _how(self):
        """The settings that are arguments of `sanitize_frame` too."""
        shared = ("keep_sensitive", "columns", "id", "seed", "key", "context", "unseen")
        return {name: getattr(self, name) for name in shared}

    def _task(self):
        """What the settings say, or a ValueError that names the one that is wrong."""
        sides = {side: names(parts_of(side, getattr(self, side))) for side in ("sensitive", "public")}
        bins = _checked_bins(self.bins, sides["sensitive"] + sides["public"])
        task = FrameTask(None, *(parts_of(side, named, bins) for side, named in sides.items()), **self._how())
        sanitize_columns.check_policy(self.unseen)
        keystream.secret(self.key, self.seed)
        keystream.check_key_use(self.key, self.id, None, keystream.context_bytes(self.context))
        return task

    def transform(self, frame):
        """The sanitised frame: see `sanitize_frame`. Without key or seed, each call draws anew."""
        return sanitize_frame(frame, self._fitted("transform").mechanism_, **self._how())

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
        fitted = self.mechanism_.fitted
        places = FrameTask(self.mechanism_, fitted.sensitive, fitted.public, **self._how()).places(all_names)
        return as_objects([all_names[place] for place in places])

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
