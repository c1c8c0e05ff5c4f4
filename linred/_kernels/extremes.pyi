import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

VARIANTS: dict[str, int]
variant: str

def use_variant(level: str) -> None: ...
def column_extremes(matrix: Matrix) -> tuple[Matrix, Matrix]: ...
def worst_neighbors(matrix: Matrix, neighbors: NDArray[np.uint8]) -> tuple[int, int, int] | None: ...
