"""Where lakes, checkpoints and record files lie: folders and object stores behind one interface."""
