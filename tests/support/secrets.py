"""A marker to plant in data, and all that a call says: messages, causes, pickles, warnings and logs."""

import contextlib
import io
import logging
import pickle
import traceback
import warnings

MARKER, NUMBER = "Zq7Marker", 918273645
MARKS = ("Zq7", "918273645", "9182736", "0x36bb")


class Odd:
    """A value of a type that nothing is known of, whose text is the marker."""

    def __repr__(self):
        return MARKER


def said_by(call):
    """(the exception or None, all that was said)."""
    log, error = io.StringIO(), None
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                call()
            except Exception as raised:
                error = raised
    finally:
        logging.getLogger().removeHandler(handler)
    said = log.getvalue() + "".join(str(one.message) for one in warned)
    if error is not None:
        said += "".join(traceback.format_exception(error)) + repr(error)
        with contextlib.suppress(pickle.PicklingError, TypeError, AttributeError):
            again = pickle.loads(pickle.dumps(error))
            said += f"{again!r} {vars(again)}"
    return error, said


def marked(said, more=()):
    return [mark for mark in (*MARKS, *more) if mark in said]


def check_refused(call):
    """Check that a call raises an error and says nothing of what it was given."""
    error, said = said_by(call)
    assert error is not None
    assert marked(said) == [], said
