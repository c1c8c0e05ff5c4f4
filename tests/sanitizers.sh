#!/bin/sh
# Runs the kernels' tests on a separate build with AddressSanitizer and UndefinedBehaviorSanitizer.
# usage: sh tests/sanitizers.sh PYTHON
set -eu
python=$1
target=build/sanitizers
"$python" -m pip install --quiet --disable-pip-version-check "setuptools>=77" "Cython>=3.1"
rm -rf "$target"
LINRED_CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all" \
LINRED_LDFLAGS="-fsanitize=address,undefined" \
    "$python" setup.py --quiet build_ext --build-lib "$target" --build-temp "$target/objects"
find linred \( -name "*.py" -o -name "page.*" \) -exec cp --parents {} "$target/" \;
# Python itself is not built with them: load their runtime first, and do not check the interpreter for leaks.
sanitized() {
    PYTHONPATH=$target PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 \
    LD_PRELOAD="$(${CC:-cc} -print-file-name=libasan.so) $(${CC:-cc} -print-file-name=libubsan.so)" "$@"
}
pytest="$(dirname "$python")/pytest"
sanitized "$python" -c "import sys; sys.path.pop(0); import linred; assert '$target' in linred.__file__, linred.__file__"
sanitized "$pytest" -q -p no:cacheprovider tests/_kernels tests/mechanism/test_mechanism.py tests/mechanism/test_summary.py \
    tests/design/test_calibration.py tests/design/test_closed_form.py tests/design/test_coupling.py \
    tests/sampling/test_alias_tables.py tests/sampling/test_sampler.py
