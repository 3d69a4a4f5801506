"""Schema registries elsewhere: what they hold, and which payloads of a catalog their subjects describe."""
