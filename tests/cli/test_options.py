"""Wrong options of the `linred` command are refused in one line, and nothing is written."""

import pytest

from linred.cli.main import all_commands, in_option_names
from support.commands import ADULT, ASKED, files_in, refused

OPTIONS = {
    "nothing asked": (("fit", ADULT, *ASKED[:4]), "no target: give --ldp or another limit, --max-changed or --alpha"),
    "nothing to run for": (("run", ADULT, *ASKED[:4], "-o", "out.csv"), "no target: give --ldp or another limit"),
    "alpha and a target": (("fit", ADULT, *ASKED, "--alpha", "0.5"), "--alpha and a target (--ldp) are both given"),
    "a negative target": (("fit", ADULT, *ASKED[:4], "--ldp", "-1"), "--ldp = -1.0 is outside"),
    "no number": (("fit", ADULT, *ASKED[:4], "--ldp", "one"), "'one' is not a valid float"),
    "not a number": (("fit", ADULT, *ASKED[:4], "--ldp", "nan"), "--ldp = nan"),
    "S and X the same": (
        ("fit", ADULT, "--sensitive", "sex", "--public", "sex", "--ldp", "1"),
        "both sensitive and public",
    ),
    "a column twice": (("fit", ADULT, "--sensitive", "sex,sex", "--public", "race", "--ldp", "1"), "names 'sex' twice"),
    "no such column": (("fit", ADULT, "--sensitive", "gender", "--public", "race", "--ldp", "1"), "no column 'gender'"),
    "Proposition 1 without s": (
        ("fit", ADULT, *ASKED, "--mechanism", "non-markov", "--without-sensitive"),
        "--without-sensitive",
    ),
    "bins of nothing": (("fit", ADULT, *ASKED, "--bins", "age=1,2"), "--bins names 'age'"),
    "bins without edges": (("fit", ADULT, *ASKED, "--bins", "occupation"), "is not COL=EDGE,EDGE: name a column and"),
    "bins out of order": (("fit", ADULT, *ASKED, "--bins", "occupation=2,1"), "not a finite number above"),
    "bins of text": (
        ("fit", ADULT, *ASKED, "--bins", "occupation=1,2"),
        "a value after record 0 is not a number",
    ),
    "bins of one column twice": (
        ("fit", ADULT, *ASKED, "--bins", "age=1", "--bins", "age=2,3"),
        "'age' is given twice",
    ),
    "a line break": (("fit", ADULT, *ASKED, "--public", "age\nsex"), "quote a name that contains a line break"),
    "an artifact to a pipe": (("fit", ADULT, *ASKED, "-o", "-"), "name a file"),
    "a page to a pipe": (("run", ADULT, *ASKED, "-o", "out.csv", "--html", "-"), "name a file"),
    "a picture to a pipe": (("tradeoff", ADULT, *ASKED[:4], "--plot", "-"), "name a file"),
    "a key to a pipe": (("keygen", "-"), "name a file"),
    "a picture over the domain": (
        ("tradeoff", ADULT, *ASKED[:4], "--domain", "key", "--plot", "key", "--force"),
        "the input itself",
    ),
    "no such domain": (("fit", ADULT, *ASKED, "--domain", "none.json"), "none.json: the domain cannot be read"),
    "no such encoding": (("fit", ADULT, *ASKED, "--encoding", "klingon"), "--encoding 'klingon' is unknown"),
    "an encoding of no text": (("fit", ADULT, *ASKED, "--encoding", "zlib"), "--encoding 'zlib' is unknown"),
    "a delimiter too long": (("fit", ADULT, *ASKED, "--delimiter", "ab"), "delimiter 'ab'"),
    "no such option": (("fit", ADULT, "--wrong"), "No such option"),
    "no such command": (("wrong",), "No such command"),
    "two secrets": (("run", ADULT, *ASKED, "-o", "out.csv", "--seed", "1", "--key-file", "key"), "both given"),
    "ids without a key": (("run", ADULT, *ASKED, "-o", "out.csv", "--id", "age"), "--id needs --key-file"),
    "an id that is X": (
        ("run", ADULT, *ASKED, "-o", "out.csv", "--id", "occupation", "--key-file", "key"),
        "--id names",
    ),
    "no such key": (("run", ADULT, *ASKED, "-o", "out.csv", "--key-file", "none"), "the key cannot be read"),
    "a pipe read twice": (("run", "-", *ASKED, "-o", "out.csv"), "a pipe can be read only once"),
    "one file for two": (("run", ADULT, *ASKED, "-o", "out.csv", "-m", "./out.csv"), "named for two outputs"),
    "no such picture": (("tradeoff", ADULT, *ASKED[:4], "--ldp", "1", "--plot", "plot.bmp"), ".svg, .png or .pdf"),
    "no such mechanism": (("tradeoff", ADULT, *ASKED[:4], "--mechanisms", "magic"), "'magic' is not one of"),
    "a time limit for a closed form": (
        ("fit", ADULT, *ASKED, "--mechanism", "markov", "--time-limit", "3"),
        "--time-limit applies to --mechanism optimal, not markov",
    ),
    "epsilon": (("fit", ADULT, *ASKED[:4], "--epsilon", "1"), "No such option '--epsilon': --ldp is epsilon, in nats"),
    "eps": (("run", ADULT, *ASKED[:4], "--eps", "1"), "No such option '--eps': --ldp is epsilon, in nats (see"),
    "a confidence in percent": (
        ("fit", ADULT, *ASKED, "--confidence", "95"),
        "'--confidence': 95 is not between 0 and 1: write 0.95 for 95 %",
    ),
    "a confidence without a target": (("fit", ADULT, *ASKED[:4], "--alpha", "1", "--confidence", ".9"), "in place of"),
    "a certain confidence": (("fit", ADULT, *ASKED, "--confidence", "1"), "1 is not between 0 and 1: 0.95 means 95 %"),
    "no confidence": (("fit", ADULT, *ASKED, "--confidence", "nan"), "nan is not between 0 and 1"),
    "an empty context": (
        ("run", ADULT, *ASKED, "-o", "out.csv", "--key-file", "key", "--context", ""),
        "'--context': the text is empty",
    ),
    "a key over another": (("keygen", "key"), "key exists: --force replaces it"),
    "no such artifact": (("sanitize", ADULT, "-m", "missing.json", "-o", "out.csv"), "missing.json: no such file"),
    "an artifact that is a directory": (("report", "/"), "/: is a directory"),
    "two axes": (
        ("tradeoff", ADULT, *ASKED[:4], "--ldp", "1,2", "--max-changed", "1%,2%"),
        "--ldp and --max-changed are given, but one limit is the axis",
    ),
    "no axis": (
        ("tradeoff", ADULT, *ASKED[:4], "--ldp", "1", "--max-lift", "1"),
        "--ldp and --max-lift are given, but one limit is the axis",
    ),
    "a mechanism that cannot": (
        ("tradeoff", ADULT, *ASKED[:4], "--max-changed", "1%", "--mechanisms", "markov"),
        "markov cannot meet",
    ),
    "no points": (("tradeoff", ADULT, *ASKED[:4], "--ldp", "1,x"), "'x' is not a valid float"),
}


@pytest.mark.parametrize("what", OPTIONS)
def test_options_that_cannot_be(linred_command, what):
    arguments, text = OPTIONS[what]
    assert linred_command("keygen", "key").code == 0
    refused(linred_command(*arguments), text)
    assert files_in(".") == ["key"]


def test_messages_of_the_library_name_the_options_of_the_command():
    text = (
        "ldp = 2.0 and log_lift=, not force=True or time_limit=0.5; pass sees_s=False, not my_ldp= or ldp; "
        "max_changed=, max_changed_by_s <= 0.1 and max_lift <= 2.0, secrets[1], distortion = 'absolute', least="
    )
    expected = (
        "--ldp = 2.0 and --log-lift, not --force or --time-limit=0.5; pass --without-sensitive, not my_ldp= or ldp; "
        "--max-changed, --max-changed-by-s <= 0.1 and --max-lift <= 2.0, --secrets[1], --distance = 'absolute', --least"
    )
    assert in_option_names(text, all_commands().commands["fit"]) == expected
