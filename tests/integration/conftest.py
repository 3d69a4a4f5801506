from tests.brokers import kafka

__all__ = ["kafka"]
