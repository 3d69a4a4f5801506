"""JSON Structure, drafts 00 to 04 of its core and companion specifications."""
