"""Sections and tables of the page, as HTML."""

from linred.report.html_values import without_markup

N_NARROW = 4
"""Largest number of columns of a table that fits on a narrow screen."""


def section(title, *parts):
    return f"<section><h2>{title}</h2>{''.join(parts)}</section>"


def scrolling(title, content, kind=""):
    return f'<div class="scroll{kind}" role="region" aria-label="{title}" tabindex="0">{content}</div>'


def table(caption, head, rows, n_words=1):
    """Return a table of HTML cells: the first of a row is its header, the first n_words are text, others numbers.

    Each cell repeats the head of its column: narrow screens show a row of a wide table as a list.
    """
    word = [' class="word"'] * n_words + [""] * (len(head) - n_words)
    heads = "".join(f'<th scope="col"{kind}>{cell}</th>' for kind, cell in zip(word, head, strict=True))
    labels = [without_markup(cell) for cell in head]
    body = ""
    for first, *others in rows:
        cells = zip(word[1:], labels[1:], others, strict=True)
        body += f'<tr><th scope="row">{first}</th>'
        body += "".join(f'<td{kind} data-label="{title}">{cell}</td>' for kind, title, cell in cells) + "</tr>"
    markup = f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return scrolling(caption, markup, " wide" * (len(head) > N_NARROW))
