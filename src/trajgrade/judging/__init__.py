"""Judging: what is around every judge, whatever its provider.

How a question is put so that the agent's text stays data, how a reply is read, what a verdict is.
"""
