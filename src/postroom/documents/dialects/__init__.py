"""The dialects of catalog documents: detect, read into the 1.0-rc4 tree, write from it, list what is lost."""
