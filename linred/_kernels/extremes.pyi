import numpy as np
from numpy.typing import NDArray

_Matrix = NDArray[np.float64]

VARIANTS: dict[str, int]
variant: str

def use_variant(level: str) -> None: ...
def column_extremes(matrix: _Matrix) -> tuple[_Matrix, _Matrix]: ...
def worst_neighbors(matrix: _Matrix, neighbors: NDArray[np.uint8]) -> tuple[int, int, int] | None: ...
