"""`import linred` against `import numpy`, each in a new interpreter."""

import subprocess
import sys

from benchmarks.common import compare


def rows():
    yield compare(
        "`import linred`, a new interpreter",
        lambda: subprocess.run([sys.executable, "-c", "import linred"], check=True),
        "`import numpy`",
        lambda: subprocess.run([sys.executable, "-c", "import numpy"], check=True),
        "0.77",
        rounds=21,
    )
