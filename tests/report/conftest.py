"""Fixtures of the tests of the page."""

import pytest

from support.pages import ODD, Parsed, made


@pytest.fixture(params=ODD)
def shown(request):
    """(mechanism, its page, the page parsed)."""
    mechanism, text = made(request.param)
    return mechanism, text, Parsed(text)
