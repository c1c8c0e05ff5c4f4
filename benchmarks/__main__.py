"""`make bench`: run every benchmark, print its table and write all of them into benchmarks/README.md.

`python -m benchmarks metrics counting` runs those two and only prints their tables.
"""

import importlib
import re
import sys
from pathlib import Path

from benchmarks.common import machine, table

FAMILIES = ("import", "counting", "metrics", "mechanism", "optimum", "tradeoff", "sampling", "files", "certificates")
README = Path(__file__).parent / "README.md"


def main(families):
    sections = []
    for family in families or FAMILIES:
        module = importlib.import_module(f"benchmarks.bench_{family}")
        results = module.text() if hasattr(module, "text") else table(module.rows())
        sections.append(f"## {family}\n\n{module.__doc__}\n\n{results}\n")
        print(sections[-1], flush=True)
    if not families:
        tables = f"<!-- tables -->\n{machine()}.\n\n" + "\n".join(sections)
        README.write_text(re.sub(r"<!-- tables -->.*", lambda _: tables, README.read_text(), flags=re.DOTALL))


main(sys.argv[1:])
