from tests.brokers import artemis, kafka, mosquitto, nats

__all__ = ["artemis", "kafka", "mosquitto", "nats"]
