"""The bridge: opens a catalog from any source, and hands the rules of messages and formats to a store."""
