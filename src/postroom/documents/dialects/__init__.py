"""The dialects of this family of documents: recognise, read into the 1.0-rc4 tree, write from it, say what is lost."""
