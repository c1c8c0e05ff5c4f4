"""Helpers that several tests share: joints, populations, statistics, frames, the command."""
