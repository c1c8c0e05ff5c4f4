"""The `linred` command: it parses, calls the library and prints.

A behaviour that a Python user would want too belongs below.
"""
