import numpy as np
from numpy.typing import NDArray

CELL: np.dtype
ROW: np.dtype
MOST_CELLS: int

def quantise(indptr: NDArray[np.int64], probability: NDArray[np.float64]) -> NDArray[np.uint64]: ...
def cells_of(
    indptr: NDArray[np.int64], y: NDArray[np.int32], weight: NDArray[np.uint64], log2_cells: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], np.ndarray]: ...
def rows_of(
    keep: NDArray[np.float64],
    move: NDArray[np.float64],
    table_of: NDArray[np.int32],
    stride: int,
    first_cell: NDArray[np.int64],
    log2_cells: NDArray[np.uint8],
    first_stay: int,
) -> np.ndarray: ...
