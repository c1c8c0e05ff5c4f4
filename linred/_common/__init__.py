"""What every room may use: checks of arguments, and files that are written whole or not at all.

Nothing of the field belongs here, and nothing here may import another room.
"""
