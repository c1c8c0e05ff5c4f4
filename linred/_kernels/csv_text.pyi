import numpy as np
from numpy.typing import NDArray

MOST_BLOCK_BYTES: int
MOST_PIECES: int

class CsvError(ValueError):
    record: int
    what: str
    def __init__(self, record: int, what: str) -> None: ...

class Text:
    all_bytes: bytes
    begins: NDArray[np.uint32]
    def __init__(self, texts: list[bytes]) -> None: ...
    def __len__(self) -> int: ...

class Labels:
    text: Text
    def __init__(self, texts: list[bytes], missing: int) -> None: ...
    def codes(self, text: bytes, bounds: NDArray[np.uint32], slot: int) -> NDArray[np.uint32]: ...

def split(text: bytes, is_last: bool, delimiter: int, slot_of: NDArray[np.int32]) -> tuple[NDArray[np.uint32], int]: ...
def column(text: bytes, bounds: NDArray[np.uint32], slot: int) -> tuple[NDArray[np.uint8], NDArray[np.int32]]: ...
def lines(
    text: bytes,
    bounds: NDArray[np.uint32],
    pieces: list[tuple[int, int] | Text],
    codes: NDArray[np.uint32],
    delimiter: int,
) -> NDArray[np.uint8]: ...
