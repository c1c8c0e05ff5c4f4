"""Rounds P(y|s,x) to integer tables and samples from them: alias tables, keystream, `Sampler`, exact certificate.

This package needs only the arrays of a mechanism (keep, move, table_of, tables); the class `Mechanism` is in a higher
package. No other package uses the cipher.
"""
