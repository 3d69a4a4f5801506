"""Clients of 1.0-rc2 and 1.0-rc3: their requests and responses, translated."""
