"""Rounds P(y|s,x) to integer tables and samples from them: alias tables, keystream, `Sampler`, exact certificate.

This package needs only the arrays of a mechanism (keep, move, table_of, tables); `Mechanism` itself is in a higher
package. It is the only package that uses the cipher.
"""
