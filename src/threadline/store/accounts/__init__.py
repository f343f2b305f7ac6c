"""Accounts: who may use the web app, how they prove it, and what they did."""
