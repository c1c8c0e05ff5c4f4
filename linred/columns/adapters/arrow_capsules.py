"""Any column that exports its data by Arrow's PyCapsule interface, of whatever package."""

from importlib.util import find_spec

from linred.columns.adapters.arrow_arrays import ArrowColumn
from linred.columns.adapters.lists import ListColumn


def is_exported(column):
    """Whether there is such a column, and pyarrow to read it."""
    exports = hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__")
    return exports and find_spec("pyarrow") is not None


class CapsuleColumn(ArrowColumn):
    """Read by pyarrow; what is drawn for it is a list."""

    def __init__(self, name, exported):
        import pyarrow

        read = pyarrow.chunked_array if hasattr(exported, "__arrow_c_stream__") else pyarrow.array
        super().__init__(name, read(exported))
        if pyarrow.types.is_struct(self.dtype):
            raise ValueError(f"{name} is a {type(exported).__name__}, not a column of records in order")

    make_decoder, text_column = ListColumn.make_decoder, ListColumn.text_column
