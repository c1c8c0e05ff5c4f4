"""Values of any kind to integer codes and labels, and back.

Here a missing value is decided, an alphabet put in order, and a column rebuilt as the kind that it was. Nothing here
knows probabilities or files; no package of data frames is imported but inside its own adapter.
"""
