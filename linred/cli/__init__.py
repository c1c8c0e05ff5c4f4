"""The `linred` command: parses options, calls the library and prints the results.

Behaviour that Python users also need belongs in a lower package.
"""
