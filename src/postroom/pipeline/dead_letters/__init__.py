"""Dead letters of a lake: reported, and replayed through the present catalog."""
