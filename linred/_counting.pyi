import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.uint64]

def count_pairs(
    s_codes: Codes,
    x_codes: Codes,
    n_s: int,
    n_x: int,
    threads: int | None = None,
    names: tuple[str, str] = ("s_codes", "x_codes"),
) -> NDArray[np.int64]: ...
