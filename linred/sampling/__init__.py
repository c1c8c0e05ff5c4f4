"""P(y|s,x) to integers, and integers to draws: alias tables, keystream, `Sampler`, exact certificate.

Only the parts of a mechanism are needed here (keep, move, table_of, tables), so the class `Mechanism` lies above. This
is the only room that knows the cipher.
"""
