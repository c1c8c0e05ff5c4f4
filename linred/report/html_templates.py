"""What is written on the page: its texts and templates. `page.css` is its style, `page.html` the frame of it all."""

import math
from importlib.resources import files

from linred.privacy.leakage import FIGURES
from linred.privacy.target import Target

NAMES = {name: FIGURES[name] for name in Target._fields}
HEADLINE = {
    0.0: "A published value tells nothing about <bdi>{s}</bdi> ({name} 0 nats; unprotected it is {before}).",
    math.inf: "Some published values rule out a value of <bdi>{s}</bdi> altogether ({name} is infinite).",
    "ldp": "Whoever sees a published value can move the odds between any two values of <bdi>{s}</bdi> by a factor of"
    " <strong>{factor}</strong> at most ({name} at most {sampled} nats; unprotected it is {before}).",
    "log_lift": "A published value makes no value of <bdi>{s}</bdi> likelier or less likely by more than a factor of"
    " <strong>{factor}</strong> ({name} at most {sampled} nats; unprotected it is {before}).",
}
MISSING = {"category": "a value of their own", "skip": "records with one were left out of the fit"}
PRIVACY = """<table><caption>Before: X as it is. After: Y, by formula. Sampled: the integers that records are drawn
with, rounded up; this column holds where P(S,X) is as it was fitted. All 0 is perfect
privacy.</caption><thead><tr><th scope="col">nats</th>
<th scope="col">before</th><th scope="col">after</th><th scope="col">sampled, at
most</th></tr></thead>{groups}</table>"""
GROUP = """<tbody><tr><th scope="rowgroup">{label}</th><td>{before}</td><td>{after}</td><td><b>{sampled}</b></td></tr>
<tr><td colspan="4" class="means">{means}</td></tr></tbody>"""
MEANS = {
    "ldp": "Seeing y moves the odds of one value of S against another {by}, whatever they were before.",
    "log_lift": "Seeing y makes a value of S likelier or less likely {by}: the larger of the next two.",
    "max_lift": "Seeing y makes a value of S likelier {by}.",
    "min_lift": "Seeing y makes a value of S less likely {by}.",
    "mutual_information": "What y tells about s on average, over all records; 0 where they are independent.",
    "maximal_leakage": "Seeing y raises the chance of guessing S, or anything that hangs on S alone, {by}.",
}
CERTIFIED_HEAD = "nats", "if the fit were the truth", "with confidence", "whatever the data"
CERTIFIED = """<p>P(S,X) is an estimate. These figures hold with a confidence of <strong>{confidence}</strong>,
{together}, whatever P(S,X) is, as long as records are independent draws from it. They come from {basis} ({n:,}).
LDP: {because}.</p>"""
PRICE = """<p>The price of confidence: <strong>{dtv}</strong> of the records change. It would be {dtv_plug_in} if the
fitted distribution were the truth, and {dtv_ceiling} without trusting any data. Of the records, {redrawn} are so rare
that nothing could be said about them: they are redrawn from the distribution of X.</p>"""
INFORMATION = {
    "mutual_information": "I(X;Y), what Y still tells about X",
    "entropy": "H(X), all there is to tell about X",
    "information_loss": "H(X) − I(X;Y), what is lost",
}
GAP = "gap: the least possible for its kind of mechanism is lower by at most"
KEY = {
    "markov": "keeps x or redraws it from P(x), without looking at s (the paper's Lemma 1)",
    "non_markov": "looks at s, and moves every P(x|s) by the same share (the paper's Proposition 1)",
    "optimal": "looks at s, and changes the fewest records possible at that figure",
    "selective": "looks at s, and is near the optimum",
}
NOTES = {
    "built": "Every point of a curve is a mechanism that was built and measured on the same P(S,X).",
    "infinite": "This mechanism is off the chart, to the right: its figure is infinite.",
    "drawn anew": "This mechanism draws y whatever s and x are, which changes more records than need be near 0.",
    "marginal": "The curves keep the distribution of X; this mechanism does not, and may lie under them.",
    "distortion": "This mechanism was made for the least distortion, the curves for few changes.",
    "both": "This mechanism meets a log-lift target as well; the curves are for LDP alone.",
    "x alone": "This mechanism looks at x alone, as Lemma 1 does; the other curves look at s as well.",
    "large": "The curve of the optimum is left out: with so many values it would take long.",
    "failed": "A curve is left out: not all of its points could be built.",
}
BARS = """<svg class="bars" aria-hidden="true"><rect class="x" y="1" width="{}%" height="6"/>
<rect class="y" y="9" width="{}%" height="6"/></svg>"""
MARGINAL_HEAD = "value", "", '<span class="x">X, before</span>', '<span class="y">Y, after</span>'
SAME_MARGINAL = "The distribution of Y is the same as that of X: counts and shares of its values stay right on average."
OTHER_MARGINAL = "The distribution of Y is not that of X: {distance} of it lies elsewhere (total variation distance)."
NOT_SCANNED = """They were not looked at when the mechanism was fitted. Any column that is published beside Y may
tell about S by itself, whatever this page says of Y."""
OTHER_COLUMNS = """Y tells {released} nats about S on average. Columns that are passed on and tell more than that,
beyond chance: {n} of {all}. Without any column, guessing the commonest S is right for {blind} of the records."""
LEAK_HEAD = "column", "values", "I(S;column), nats", "of it by chance, about", "S guessed right"
FIT_COUNTED = """P(S,X) was counted from {n:,} records, and the figures are exact for these counts. For the
population behind them, or for later records, they are estimates: the truth may be higher, and in simulations it was
in a third to a half of all fits."""
FIT_GIVEN = "P(S,X) was given as a distribution. The figures are exact for it, and for no other."
ALPHABET = {
    None: "If the lists of values were read off the data, they show which values exist; declared ones do not.",
    True: "The lists of values were declared beforehand, so they do not show which values exist in the data.",
    False: "The lists of values were read off the data, so they show which values exist; declared ones would not.",
}
KNOWS_X = {
    True: "What becomes of x depends on s, so whoever knows the x of a record may learn its s from y, and for certain.",
    False: "This mechanism does not look at s: to whoever knows the x of a record, y tells nothing more about its s.",
}
ASSUMPTIONS = """<ul>
<li><b>What is protected.</b> The S of one record, against someone who sees its published value and knows this
mechanism and P(S,X), but not the random draw. The figures say how much the value can tell this person about S.</li>
<li><b>X itself is not made private.</b> A record that is not changed is published with its true X, and nobody is
promised that theirs is changed. If X is sensitive too, this is not enough.</li>
<li><b>Who knows X too is not covered.</b> {knows_x}</li>
<li><b>Records are independent.</b> The figures are about one record. Several records of one person, or of people who
are alike in S, each tell something, and it adds up; so do several columns that are sanitised one by one.</li>
<li><b>Other columns are not covered.</b> What is published beside Y tells about S by itself, and more with Y.</li>
<li><b>The figures hold for the fitted distribution.</b> {fit}</li>
<li><b>Fitting looks at the data.</b> The tables of the mechanism and this page are computed from P(S,X). The figures
cover what published values tell, not what the tables would tell if they were published.</li>
<li><b>What the fit never saw is redrawn.</b> {never} occur in the fit. Records with any that do not are drawn from the
distribution of Y, whatever they are.</li>
<li><b>A seed is not private.</b> Who knows or guesses it can undo the draw. Releases are to be drawn with a key: a
fresh one in every call, as is usual, or 32 secret bytes.</li>
<li><b>One release.</b> Publishing the same records again with new draws lets the noise be averaged away. With record
ids and one secret key a record gets the same answer every time.</li>
<li><b>Lists of values.</b> {alphabet}</li>
<li><b>This page is confidential.</b> It holds parts of P(S,X). Do not publish it with the data.</li>
</ul>"""
CHART = """<svg viewBox="0 0 480 300" role="img"><title>Share of records changed against {name} of S to Y</title>
<desc>This mechanism changes {share} of the records at {name} {nats}. A table below has the numbers of the
curves.</desc> {marks}<text x="4" y="14">share of records changed{scale}</text> <text x="470" y="292"
text-anchor="end">{name} of S to Y, nats; less is more private</text></svg>"""
STYLE, PAGE = (files("linred.report").joinpath(name).read_text("utf-8") for name in ("page.css", "page.html"))
LINE_WIDTH = 2
LINE_STYLE = """.{0} {{ color: {1}; }} .line.{0} {{ stroke-dasharray: {3}; }}
@media screen and (prefers-color-scheme: dark) {{ .{0} {{ color: {2}; }} }}
"""
