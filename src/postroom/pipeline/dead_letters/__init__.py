"""Dead letters of a lake: report them, replay them."""
