"""What a change of the catalog would have done to the messages of a lake: judge them by it, add up, report."""
