import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.integer]

def count_pairs(
    s_codes: Codes,
    x_codes: Codes,
    n_s: int,
    n_x: int,
    threads: int | None = None,
    names: tuple[str, str] = ("s_codes", "x_codes"),
) -> NDArray[np.int64]: ...
