"""Presentation: text, the HTML page, trade-off curves, plots.

Other packages hold data; this one turns it into text and pictures. It estimates and decides nothing.
"""
