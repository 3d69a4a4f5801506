"""JSON Schemas of catalog files, made from the model, for editors."""
