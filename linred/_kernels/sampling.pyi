import numpy as np
from numpy.typing import NDArray

_Codes = NDArray[np.integer]
_Bytes = NDArray[np.uint8]

VARIANTS: dict[str, int]
variant: str
PENDING: int
MOST_RUNS: int

def use_variant(level: str) -> None: ...

class Columns:
    s_codes: _Codes | None
    x_codes: _Codes
    y_codes: _Codes
    n_records: int
    first: int
    def __init__(self, s_codes: _Codes | None, x_codes: _Codes, y_codes: _Codes, first: int = 0) -> None: ...

class Pending:
    n_records: int
    positions: NDArray[np.uint32]
    counters: _Bytes
    def __init__(self, n_records: int) -> None: ...
    def count(self, n_pending: int, start: int) -> _Bytes: ...

class Kernel:
    rows: np.ndarray
    cells: np.ndarray
    settled: _Bytes | None
    keep_top: NDArray[np.uint16] | None
    limits: NDArray[np.uint64] | None
    def __init__(
        self,
        n_s: int,
        n_x: int,
        shift: int,
        rows: np.ndarray,
        cells: np.ndarray,
        settled: _Bytes | None,
        keep_top: NDArray[np.uint16] | None,
        limits: NDArray[np.uint64] | None = None,
    ) -> None: ...
    def check(self, columns: Columns) -> None: ...
    def first_stage(self, columns: Columns, words: _Bytes, pending: Pending, start: int = 0) -> _Bytes: ...
    def no_first_stage(self, columns: Columns, pending: Pending) -> None: ...
    def second_stage(
        self, columns: Columns, words: _Bytes | None, pending: Pending, n_pending: int, blocks: _Bytes
    ) -> int: ...
