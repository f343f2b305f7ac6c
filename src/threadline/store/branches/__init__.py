"""Branches: sessions that continue another one, and how sessions descend from each other."""
