import numpy as np
from numpy.typing import NDArray

_Codes = NDArray[np.integer]

COPIES: tuple[tuple[int, int], ...]
FEWEST_RECORDS_A_THREAD: int

def count_pairs(
    s_codes: _Codes,
    x_codes: _Codes,
    n_s: int,
    n_x: int,
    threads: int | None = None,
    names: tuple[str, str] = ("s_codes", "x_codes"),
) -> NDArray[np.int64]: ...
