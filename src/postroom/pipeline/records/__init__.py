"""The exact records that a lake keeps beside its rows: read them, judge rows anew by them, erase."""
