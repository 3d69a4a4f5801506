"""The change log as CloudEvents, page by page, and as an audit with old and new values."""
