"""The version of linred, in a module of its own: what needs it need not import the package."""

__version__ = "0.1.0.dev0"
