import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Flows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], Matrix]

def northwest(supply: Matrix, demand: Matrix | None = None) -> Flows: ...
def tables_from_flows(
    p: Matrix, p_y: Matrix, flows: Flows, complete: bool
) -> tuple[Matrix, NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], Matrix]: ...
def shorter_detour(d: Matrix, slack: float) -> tuple[int, int, int] | None: ...
