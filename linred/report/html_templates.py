"""Texts and templates of the page. `page.css` is its style, `page.html` its frame."""

from importlib.resources import files

MISSING = {
    "category": "treated as a separate category",
    "skip": "records with a missing value were left out of the fit",
}
CONDITION = {
    "certified": "At {level} confidence, seeing y",
    "plug-in": "Under this condition, seeing y",
    "given": "Under this condition, seeing y",
}
PRIVACY = """<table><caption>"Unprotected" is the figure of X, and "theoretical" the figure of Y by formula.
"Implemented" is the figure of Y for the probabilities actually used for drawing, rounded up. All three hold {scope}.
{condition} has the effect stated under each figure. 0 in every row means perfect privacy.</caption>
<thead><tr><th scope="col">nats</th>
<th scope="col">unprotected</th><th scope="col">theoretical</th>
<th scope="col">implemented</th></tr></thead>{groups}</table>"""
SCOPE = {
    "certified": "only if the population is distributed as the fitted data; certified figures are in the table above",
    "plug-in": "only if the population is distributed as the fitted data",
    "given": "only if P(S, X) is exactly as given",
}
GROUP = """<tbody><tr><th scope="rowgroup">{label}</th><td>{before}</td><td>{after}</td><td><b>{sampled}</b></td></tr>
<tr><td colspan="4" class="means">{means}</td></tr></tbody>"""
MEANS = {
    "ldp": "The odds between any two values of S shift {by}, whatever they were before.",
    "log_lift": "A value of S becomes more or less likely than under P(S) {by}: the larger of the next two figures.",
    "max_lift": "A value of S becomes more likely than under P(S) {by}.",
    "min_lift": "A value of S becomes less likely than under P(S) {by}.",
    "mutual_information": "What y reveals about s on average over all records; 0 if they are independent.",
    "maximal_leakage": "The chance of guessing S, or anything that depends only on S, rises {by}.",
}
MEANS_GIVEN_X = "For someone who already knows x, the odds between values of S that occur with x shift {by}."
BY = "by a factor of at most {factor}"
UNLIMITED = "without limit"
TARGETS = "Each limit, and the figure of the probabilities actually used for drawing, rounded up"
TARGETS_HEAD = "limit", "at most", "reached", "met"
CERTIFIED_HEAD = "nats", "plug-in estimate", "certified at {level}", "worst-case bound"
CERTIFIED = """<p>P(S,X) is an estimate. The certified figures hold at <strong>{level} confidence</strong>, {together},
for any P(S,X), provided that records are independent draws from it. They come from {basis} ({n:,}).
LDP: {because}. The worst-case bound needs no data.</p>"""
PRICE = """<p>The price of certification: <strong>{dtv}</strong> of the records change. The plug-in optimum would change
{dtv_plug_in}, and a mechanism that needs no data {dtv_ceiling}. Rare pairs (s, x), whose counts are too small to
certify, are all or nearly all resampled from the distribution of X: {redrawn} of the records.</p>"""
REDRAWN = "<p>All records with these values are in rare pairs. {values}.</p>"
INFORMATION = {
    "mutual_information": "I(X;Y), what Y reveals about X",
    "entropy": "H(X), the information in X",
    "information_loss": "H(X) − I(X;Y), the information lost",
}
GAP = "Proven distance from the optimum"
NO_GAP = "no proven distance"
KEY = {
    "markov": "keeps x or draws a new value from P(x); does not use S (Lemma 1 of the paper)",
    "non_markov": "uses S, and moves every P(x|s) the same share of the way towards P(x) (Proposition 1 of the paper)",
    "optimal": "uses S, and changes the fewest records that any mechanism with the same distribution of X can",
    "selective": "uses S, and is close to the optimum",
}
NOTES = {
    "built": "Every point of a curve is a mechanism that was built and measured on the same P(S,X).",
    "infinite": "This mechanism is off the chart, to the right: its figure is infinite.",
    "independent": "This mechanism draws y independently of s and x, which changes more records than necessary near 0.",
    "marginal": "The curves keep the distribution of X; this mechanism does not, and may lie below them.",
    "distortion": "This mechanism minimises distortion; the curves minimise changed records.",
    "both": "This mechanism has limits that the curves do not have: they are for {name} alone.",
    "x alone": "This mechanism uses x alone, as Lemma 1 does; the other curves use S as well.",
    "certified": "This mechanism is certified, and the curves are plug-in estimates, which change fewer records.",
    "large": "The curve of the optimum is omitted: with so many values it would take too long.",
    "failed": "A curve is omitted: not all of its points could be built.",
}
BARS = """<svg class="bars" aria-hidden="true"><rect class="x" y="1" width="{}%" height="6"/>
<rect class="y" y="9" width="{}%" height="6"/></svg>"""
BAR = """<svg class="bars" aria-hidden="true"><rect class="y" y="5" width="{}%" height="6"/></svg>"""
WHO_BEARS = """{share} of all records change. The tables show the share of changed records in each group. A group is
all records with one value of S, or of X."""
BEARERS = "Values of {side} with the largest shares of changed records"
BEARERS_HEAD = "of all records", "changed"
OTHER_GROUPS = "{n:,} others, each"
MARGINAL_HEAD = "value", "", '<span class="x">X</span>', '<span class="y">Y</span>'
SAME_MARGINAL = "The distribution of Y equals that of X: the expected count of every value stays the same."
OTHER_MARGINAL = "The distribution of Y differs from that of X by {distance} (total variation distance)."
NOT_SCANNED = """The other columns were not measured when the mechanism was fitted. Any column that is published
beside Y may reveal S by itself, whatever this page says about Y."""
NOT_MEASURED = "Published, but not measured: {columns}."
OTHER_COLUMNS = """Y reveals {released} nats about S on average. Other columns of the input that reveal more by
themselves, after subtracting what is expected by chance: {n} of {all}. Without any column, guessing the most frequent
S is right for {blind} of the records."""
NO_RELEASE = "This page describes a mechanism and no release, so it cannot say which columns are published."
LEAK_HEAD = (
    "column",
    "published",
    "values",
    "I(S;column), nats",
    "expected by chance alone (approx.), nats",
    "S guessed correctly from this column",
)
FIT_COUNTED = """P(S,X) was estimated from {n:,} records, and the figures are exact for these counts. For the
population behind them, or for later records, they are estimates: the true leakage may be higher, and in simulations it
was higher in a third to a half of all fits."""
FIT_CERTIFIED = " The certified figures hold at their confidence level for any distribution."
FIT_GIVEN = "P(S,X) was given as a distribution. The figures are exact for it, and for no other."
ALPHABET = {
    None: "Lists of possible values taken from the data show which values exist; declared lists do not.",
    True: "The lists of possible values were declared, so they do not show which values exist in the data.",
    False: "The lists of possible values were taken from the data, so they show which values exist.",
}
KNOWS_X = {
    "nothing": "<b>Someone who already knows X learns nothing more.</b> This mechanism does not use S when it samples: "
    "to someone who knows the x of a record, y reveals nothing more about its s. What x reveals is not covered.",
    "finite": "<b>Someone who already knows X can learn more.</b> Because this mechanism uses S when it samples, "
    "someone who knows the x of a record can shift the odds between two values of S that occur with x by a factor of "
    "at most {factor}.",
    "everything": "<b>Someone who already knows X is not covered.</b> Because this mechanism uses S when it samples, "
    "someone who knows the x of a record may learn its s from y, possibly with certainty.",
}
ASSUMPTIONS = """<ul>
<li><b>What is protected.</b> This protects the S of a single record against someone who sees its published value and
knows this mechanism and P(S,X), but neither the random draw nor anything about X beyond what S says. The figures state
how much the published value can reveal to this person about S.</li>
<li><b>X itself is not protected.</b> A record that is not changed is published with its true X, and the
mechanism does not promise to change any given record. If X is sensitive too, this mechanism is not enough.</li>
<li>{knows_x}</li>
<li><b>Records are independent.</b> The figures are about one record. Several records of one person, or of people who
share S, can together reveal more than any figure says; so can several columns that are sanitised one by one.</li>
<li><b>Other columns are not covered.</b> A column published beside Y may reveal S by itself, and more together
with Y.</li>
<li><b>The figures hold for the fitted distribution.</b> {fit}</li>
<li><b>Fitting reads the data.</b> The tables of the mechanism and this page are computed from P(S,X). The figures
cover what published values reveal, not what the tables would reveal if they were published.</li>
<li><b>Combinations that the fit never saw are randomised too.</b> {never} occur in the fit. {resampled}</li>
<li><b>A seed is not private.</b> Whoever knows or guesses it can undo the draw. Draw releases with a key: by default a
fresh one for every call, or 32 secret bytes.</li>
<li><b>One release.</b> If the same records are published again with new draws, the noise can be averaged away. With
record ids, one secret key and one context, this mechanism gives a record the same answer every time.</li>
<li><b>Lists of values.</b> {alphabet}</li>
<li><b>This page is confidential.</b> It contains parts of P(S,X). Do not publish it with the data.</li>
</ul>"""
RESAMPLED = "Records with such a {what} get a value drawn from the distribution of Y."
LIKE_THE_MEAN = (
    "Records with such a pair get a value drawn from the mean distribution of Y over the records with their x."
)
CERTIFIED_TOO = "Records with such a {what} have a distribution of their own, which the certified figures cover."
CHART = """<svg viewBox="0 0 480 300" role="img"><title>Share of changed records against {name} of S to Y</title>
<desc>This mechanism changes {share} of the records at {name} {nats}. A table below lists the numbers of the
curves.</desc> {marks}<text x="4" y="14">share of changed records{scale}</text> <text x="470" y="292"
text-anchor="end">{name} of S to Y, nats; less is more private</text></svg>"""
STYLE, PAGE = (files("linred.report").joinpath(name).read_text("utf-8") for name in ("page.css", "page.html"))
LINE_WIDTH = 2
LINE_STYLE = """.{0} {{ color: {1}; }} .line.{0} {{ stroke-dasharray: {3}; }}
@media screen and (prefers-color-scheme: dark) {{ .{0} {{ color: {2}; }} }}
"""
