"""`Sanitizer`: fits a mechanism to a frame and sanitises frames with it, by the conventions of scikit-learn."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Unpack

from linred._common import validation
from linred.columns.adapters.kinds import frame_of, symbol_of
from linred.columns.alphabet import as_objects
from linred.columns.schema import FitSchema, listed, names, parts_of
from linred.design.fit import UTILITY, FitSettings
from linred.distribution.joint import Joint
from linred.errors import NotFittedError
from linred.frames.sanitize_frame import FrameTask, naming_columns, read_columns, sanitize_frame
from linred.privacy.takes_target import KEYWORDS, TargetKeywords, takes_keywords
from linred.sampling import keystream, sanitize_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from linred._common.types import Context, Frame, Key, LabelMatrix, Least, Names, Unseen
    from linred.mechanism.mechanism import Mechanism


BY_LABEL = ("neighbors", "pairs", "secrets", "distortion")
"""Settings that may hold values of S or X, which the text of a Sanitizer does not show."""


class Sanitizer:
    """Fits a mechanism to a frame and sanitises frames with it: fit and transform as in scikit-learn.

    Parameters
    ----------
    sensitive, public : name of a column, or list of names
        The columns S and X. Several columns are one composite symbol.
    target, ldp and the other limits of a `linred.Target` : as in `linred.fit`
    alpha, max_changed, max_distortion, least, distortion, mechanism, sees_s, confidence : as in `linred.fit`
        The mechanism to fit. A distortion of "absolute" or "squared" takes the centres of bins if the public column has
        bins. If sees_s is False, the mechanism does not use S when sampling, and frames to transform may lack S.
    bins : {name: edges}, optional
        Edges that sort the numbers of sensitive or public columns into bins.
    keep_sensitive, columns, keep_metadata, unseen, seed, key, context, id : as in `sanitize_frame`

    Attributes
    ----------
    mechanism_ : the Mechanism, with these columns as its `fitted`.
    feature_names_in_, n_features_in_ : the columns of the frame that it was fitted on, and their number.

    Guarantee
    ---------
    That of the mechanism. Alphabets and figures come from the data of the fit: the figures are exact for the fitted
    distribution and plug-in estimates for any other. If a setting is wrong, `fit` raises an error and changes nothing.
    Key and seed are not shown, but pickle stores them and `get_params` returns them.

    >>> frame = {"sex": ["f", "m", "m", "f"] * 9, "job": ["a", "b", "a", "a"] * 9, "year": [1, 2, 3, 4] * 9}
    >>> sanitizer = Sanitizer("sex", "job", ldp=0.5, seed=3)
    >>> sanitizer.fit_transform(frame)["job"][:4]
    ['a', 'b', 'a', 'a']
    >>> sanitizer.get_feature_names_out().tolist(), sanitizer
    (['job', 'year'], Sanitizer(sensitive='sex', public='job', ldp=0.5, seed=<hidden>))
    """

    @takes_keywords
    def __init__(
        self,
        sensitive: Names,
        public: Names,
        *,
        alpha: float | None = None,
        max_changed: float | None = None,
        max_distortion: float | None = None,
        least: Least | None = None,
        distortion: LabelMatrix | None = None,
        mechanism: str | Callable[..., Mechanism] = "optimal",
        sees_s: bool = True,
        confidence: float | None = None,
        bins: Mapping[str, Sequence[float]] | None = None,
        keep_sensitive: bool = False,
        columns: Names | None = None,
        keep_metadata: bool = False,
        unseen: Unseen = "error",
        seed: int | None = None,
        key: Key | None = None,
        context: Context = b"",
        id: Names | None = None,
        **keywords: Unpack[TargetKeywords[float]],
    ) -> None:
        self.sensitive, self.public, self.mechanism, self.sees_s, self.bins = sensitive, public, mechanism, sees_s, bins
        self.__dict__.update(dict.fromkeys(KEYWORDS) | keywords)
        self.alpha, self.max_changed, self.max_distortion, self.least = alpha, max_changed, max_distortion, least
        self.distortion, self.confidence = distortion, confidence
        self.keep_sensitive, self.columns, self.keep_metadata = keep_sensitive, columns, keep_metadata
        self.unseen, self.seed, self.key, self.context, self.id = unseen, seed, key, context, id

    def fit(self, frame: Frame, y: object = None) -> Sanitizer:
        """Fit a mechanism to the records of a frame, and return self. Ignores y; collects S and X of a LazyFrame."""
        settings = self._settings()
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
        self.mechanism_ = settings.mechanism_for(joint, fitted.only_public).replace(fitted=fitted)
        self.n_features_in_ = len(all_names)
        self.feature_names_in_ = as_objects(all_names)
        return self

    def _settings(self):
        keywords = {name: getattr(self, name) for name in KEYWORDS}
        more = {name: getattr(self, name) for name in ("confidence", *UTILITY)}
        return FitSettings.checked(self.mechanism, self.alpha, keywords, self.sees_s, **more)

    def _how(self):
        """Return the settings that are also arguments of `sanitize_frame`."""
        shared = ("keep_sensitive", "columns", "keep_metadata", "id", "seed", "key", "context", "unseen")
        return {name: getattr(self, name) for name in shared}

    def _task(self):
        """Return the `FrameTask` of the settings; a ValueError names a setting that is wrong."""
        sides = {side: names(parts_of(side, getattr(self, side))) for side in ("sensitive", "public")}
        bins = _checked_bins(self.bins, sides["sensitive"] + sides["public"])
        task = FrameTask(None, *(parts_of(side, named, bins) for side, named in sides.items()), **self._how())
        sanitize_columns.check_policy(self.unseen)
        keystream.secret(self.key, self.seed)
        keystream.check_key_use(self.key, self.id, None, keystream.context_bytes(self.context), name="id")
        return task

    def transform(self, frame: Frame) -> Any:
        """Return the sanitised frame: see `sanitize_frame`. Without key or seed, each call uses fresh randomness."""
        return sanitize_frame(frame, self._fitted("transform").mechanism_, **self._how())

    def fit_transform(self, frame: Frame, y: object = None) -> Any:
        """Fit to a frame and return it sanitised."""
        return self.fit(frame, y).transform(frame)

    def _fitted(self, wanted):
        if not hasattr(self, "mechanism_"):
            raise NotFittedError(f"this Sanitizer is not fitted: call fit(frame) before {wanted}")
        return self

    def get_feature_names_out(self, input_features: Iterable[Any] | None = None) -> Any:
        """Return an array of the names of the columns that `transform` returns for the frame of the fit."""
        all_names = self._fitted("get_feature_names_out").feature_names_in_.tolist()
        if input_features is not None and list(input_features) != all_names:
            raise ValueError(f"input_features is not feature_names_in_: {listed(all_names)}")
        fitted = self.mechanism_.fitted
        places = FrameTask(self.mechanism_, fitted.sensitive, fitted.public, **self._how()).places(all_names)
        return as_objects([all_names[place] for place in places])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all settings by name, including the key."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Sanitizer:
        """Change settings by name, and return self."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(f"{name!r} is not a parameter of Sanitizer, which has {', '.join(known)}")
        self.__dict__.update(params)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return the tags that scikit-learn asks a step of a pipeline for; it is imported when it asks."""
        from sklearn.base import BaseEstimator
        from sklearn.utils import TransformerTags

        tags = BaseEstimator().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        return tags

    def __repr__(self) -> str:
        shown = []
        for name, parameter in inspect.signature(type(self)).parameters.items():
            value = getattr(self, name)
            if repr(value) != repr(parameter.default):
                text = validation.shortened(value) if name in BY_LABEL else repr(value)
                shown.append(f"{name}={'<hidden>' if name in ('key', 'seed') else text}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _checked_bins(bins, column_names):
    """Return {name: edges}; a ValueError is raised unless each name is one of the columns and has an edge."""
    if bins is not None and not isinstance(bins, dict):
        raise ValueError(f"bins is a {validation.type_name(bins)}, not a dict of column names and edges")
    for name, edges in (bins or {}).items():
        if name not in column_names:
            raise ValueError(f"bins names {name!r}, which is neither sensitive nor public")
        if isinstance(edges, str | bytes) or not hasattr(edges, "__len__"):
            raise ValueError(f"bins of {name!r} is a {validation.type_name(edges)}, not a list of edges")
        if len(edges) == 0:
            raise ValueError(f"bins of {name!r} has no edges: give at least one number")
    return bins
