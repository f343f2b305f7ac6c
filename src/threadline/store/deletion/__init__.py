"""Deletion: sessions and people go for good, slice by slice, and a certificate says so."""
