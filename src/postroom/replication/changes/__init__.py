"""The change log of a registry: pages, cursors, CloudEvents and an audit with old and new values."""
