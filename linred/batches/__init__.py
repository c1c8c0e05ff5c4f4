"""Arrow record batches in, record batches out: where Arrow meets the sampler.

pyarrow is allowed from here up. Where batches come from and go to is in `linred.io`.
"""
