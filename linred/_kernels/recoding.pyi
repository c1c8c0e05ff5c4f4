import numpy as np
from numpy.typing import NDArray

def recode(
    codes: NDArray[np.integer], table: NDArray[np.unsignedinteger], name: str = "codes"
) -> NDArray[np.unsignedinteger]: ...
