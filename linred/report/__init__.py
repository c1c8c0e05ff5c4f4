"""What people read: text, the HTML page, trade-off curves, plots.

Objects elsewhere hold data, and are turned into words here. Nothing is estimated or decided here.
"""
