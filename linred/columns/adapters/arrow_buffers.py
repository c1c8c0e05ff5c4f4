"""Rebuilds Arrow columns so that their buffers hold the values of their records and nothing else.

A dictionary may hold values that no record has: values left over from rows filtered out earlier, or shared with the
sensitive column. A slice keeps the buffers of the whole column, and a null may hide the value it replaced. Whoever
pickles such a column or writes it as Arrow or Parquet publishes those values.
"""

import sys

import numpy as np


def rebuilt(column, decode=False):
    """Return an Array or ChunkedArray whose buffers hold its own values alone, without metadata of nested fields.

    Dictionaries hold the values that occur: sorted, or in their own order if they are ordered. decode: replace
    dictionaries by plain values, for a format in which a dictionary cannot change from batch to batch. Unions,
    run-end-encoded arrays and list views keep their buffers.
    """
    pyarrow = sys.modules["pyarrow"]
    if not isinstance(column, pyarrow.ChunkedArray):
        return _rebuilt(column, decode)
    chunks = [_rebuilt(chunk, decode) for chunk in column.chunks]
    if not decode and len(chunks) > 1 and has_dictionary(column.type):  # a file needs one dictionary for all chunks
        chunks = [_rebuilt(pyarrow.concat_arrays(chunks), decode)]
    return pyarrow.chunked_array(chunks, rebuilt_type(column.type, decode))


def rebuilt_type(arrow_type, decode=False):
    """Return the type of a `rebuilt` column."""
    return _rebuilt(sys.modules["pyarrow"].nulls(0, arrow_type), decode).type


def has_dictionary(arrow_type, is_ordered=False):
    """Return whether a type is a dictionary or has one nested in it; is_ordered: only an ordered dictionary counts."""
    types = sys.modules["pyarrow"].types
    if isinstance(arrow_type, sys.modules["pyarrow"].BaseExtensionType):
        return has_dictionary(arrow_type.storage_type, is_ordered)
    if types.is_dictionary(arrow_type):
        return arrow_type.ordered or not is_ordered
    is_nested = types.is_nested(arrow_type) and not types.is_run_end_encoded(arrow_type)
    parts = range(arrow_type.num_fields) if is_nested else ()
    return any(has_dictionary(arrow_type.field(place).type, is_ordered) for place in parts)


def _rebuilt(array, decode):
    pyarrow, arrow_type = sys.modules["pyarrow"], array.type
    if isinstance(array, pyarrow.ExtensionArray):
        storage = _rebuilt(array.storage, decode)
        same_type = storage.type == arrow_type.storage_type
        return pyarrow.ExtensionArray.from_storage(arrow_type, storage) if same_type else storage
    types = pyarrow.types
    for is_of_type, rebuild in (
        (types.is_dictionary, _dictionary),
        (types.is_struct, _struct),
        (types.is_list, _list),
        (types.is_large_list, _list),
        (types.is_fixed_size_list, _fixed_size_list),
        (types.is_map, _map),
    ):
        if is_of_type(arrow_type):
            return rebuild(array, decode)
    is_kept = types.is_nested(arrow_type) or types.is_run_end_encoded(arrow_type)
    return array if is_kept else _leaf(array)


def _leaf(array):
    is_longer = array.offset or array.get_total_buffer_size() > array.nbytes
    if not (is_longer or _hides(array) or _has_more_bits(array)):
        return array
    pyarrow = sys.modules["pyarrow"]
    plain = {"string_view": "large_string", "binary_view": "large_binary"}.get(str(array.type))
    if plain:  # `take` does not support views, whose buffers are shared
        return array.cast(plain).take(_all_places(array)).cast(array.type)
    return array if pyarrow.types.is_null(array.type) else array.take(_all_places(array))


def _has_more_bits(array):
    """Return whether the last byte of a mask, or of booleans, has bits of further records (array without an offset)."""
    n_bytes, n_bits = divmod(len(array), 8)
    bits = array.buffers()[: 2 if str(array.type) == "bool" else 1]
    return n_bits > 0 and any(part is not None and memoryview(part)[n_bytes] >> n_bits for part in bits)


def _hides(array):
    """Return whether there may be values under the nulls of an array."""
    if not array.null_count:
        return False
    is_null, name = np.asarray(array.is_null()), str(array.type)
    width = {"string": 4, "binary": 4, "large_string": 8, "large_binary": 8}.get(name)
    if width:
        ends = np.frombuffer(array.buffers()[1], f"i{width}", len(array) + 1, array.offset * width)
        return bool(np.diff(ends)[is_null].any())
    types = sys.modules["pyarrow"].types
    is_number = types.is_integer(array.type) or types.is_floating(array.type) or types.is_temporal(array.type)
    if not is_number or array.type.bit_width > 64:
        return True
    width = array.type.bit_width // 8
    return bool(np.frombuffer(array.buffers()[1], f"u{width}", len(array), array.offset * width)[is_null].any())


def _all_places(array):
    return sys.modules["pyarrow"].array(np.arange(len(array)))


def _mask(array):
    """Return the mask of nulls for `from_arrays`; None if there are none."""
    return array.is_null() if array.null_count else None


def _dictionary(array, decode):
    pyarrow, arrow_type = sys.modules["pyarrow"], array.type
    if decode:
        return _rebuilt(array.dictionary_decode(), decode)
    categories, n = array.dictionary, len(array.dictionary)
    indices = np.asarray(array.indices.fill_null(n).cast("int64") if array.indices.null_count else array.indices)
    occurs = np.bincount(indices, minlength=n)[:n].astype(bool) & np.asarray(categories.is_valid())
    occurring = np.flatnonzero(occurs)
    values = _rebuilt(categories.take(pyarrow.array(occurring)), decode)
    if not arrow_type.ordered:
        order = _order(values)
        values, occurring = values.take(pyarrow.array(order)), occurring[order]
    place = np.full(n + 1, -1)
    place[occurring] = np.arange(occurring.size)
    new = place[indices]
    new_indices = pyarrow.array(np.where(new < 0, 0, new), arrow_type.index_type, mask=new < 0)
    return pyarrow.DictionaryArray.from_arrays(new_indices, values, ordered=arrow_type.ordered)


def _order(values):
    """Return the places of values in sorted order; values without an order are sorted by their text."""
    from pyarrow import compute

    try:
        return np.asarray(compute.sort_indices(values))
    except sys.modules["pyarrow"].ArrowException:
        texts = [repr(value) for value in values.to_pylist()]
        return np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)


def _field(field, values):
    return field.with_type(values.type).remove_metadata()


def _struct(array, decode):
    children = [_rebuilt(child, decode) for child in array.flatten()]
    fields = [_field(array.type.field(place), child) for place, child in enumerate(children)]
    if not children:
        return array
    return sys.modules["pyarrow"].StructArray.from_arrays(children, fields=fields, mask=_mask(array))


def _list(array, decode):
    from pyarrow import compute

    pyarrow, is_large = sys.modules["pyarrow"], sys.modules["pyarrow"].types.is_large_list(array.type)
    values = _rebuilt(array.flatten(), decode)
    lengths = np.asarray(compute.list_value_length(array).fill_null(0))
    offsets = pyarrow.array(np.append(0, np.cumsum(lengths)), "int64" if is_large else "int32")
    new_type = (pyarrow.large_list if is_large else pyarrow.list_)(_field(array.type.value_field, values))
    kind = pyarrow.LargeListArray if is_large else pyarrow.ListArray
    return kind.from_arrays(offsets, values, type=new_type, mask=_mask(array))


def _fixed_size_list(array, decode):
    pyarrow, size = sys.modules["pyarrow"], array.type.list_size
    places = np.arange(array.offset * size, (array.offset + len(array)) * size)
    mask = np.repeat(np.asarray(array.is_null()), size)
    values = _rebuilt(array.values.take(pyarrow.array(places, mask=mask)), decode)
    new_type = pyarrow.list_(_field(array.type.value_field, values), size)
    return pyarrow.FixedSizeListArray.from_arrays(values, type=new_type, mask=_mask(array))


def _map(array, decode):
    pyarrow, arrow_type = sys.modules["pyarrow"], array.type
    whole = array.take(_all_places(array))  # `keys` and `items` of a slice would be those of all records
    keys, items = _rebuilt(whole.keys, decode), _rebuilt(whole.items, decode)
    fields = _field(arrow_type.key_field, keys), _field(arrow_type.item_field, items)
    new_type = pyarrow.map_(*fields, keys_sorted=arrow_type.keys_sorted)
    return pyarrow.MapArray.from_arrays(whole.offsets, keys, items, type=new_type, mask=_mask(whole))
