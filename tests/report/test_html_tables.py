"""Tables of the page: every cell names its column, and a table of many columns is marked as wide."""

from linred.report.html_tables import N_NARROW, section, table


def test_each_cell_repeats_the_head_of_its_column():
    markup = table("Figures", ["name", "<b>LDP</b>"], [["a", "1.0"], ["b", "2.0"]])
    assert markup.count('<th scope="row">') == 2
    assert markup.count('<td data-label="LDP">') == 2
    assert "<caption>Figures</caption>" in markup


def test_a_table_of_many_columns_is_wide():
    for n_columns in (N_NARROW, N_NARROW + 1):
        markup = table("Figures", ["head"] * n_columns, [["cell"] * n_columns])
        assert ('class="scroll wide"' in markup) == (n_columns > N_NARROW)


def test_a_section_has_a_heading():
    assert section("Title", "<p>a</p>", "<p>b</p>") == "<section><h2>Title</h2><p>a</p><p>b</p></section>"
