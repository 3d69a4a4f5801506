"""JSON Schemas for editors: made from the model, so that they say what the registry says."""
