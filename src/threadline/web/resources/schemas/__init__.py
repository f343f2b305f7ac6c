"""Schemas: how values are written in answers of the API, and what requests may ask for."""
