"""The exact records that a lake keeps beside its rows."""
