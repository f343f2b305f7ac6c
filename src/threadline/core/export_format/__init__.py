"""Export format: the records of an exported file, one JSON object a line.

A file is a header, then projects, attachments and sessions, then a footer. What a record refers
to stands before it, so that a file can be read once, from its beginning to its end. No record
knows the numbers that one database gave to its rows.
"""
