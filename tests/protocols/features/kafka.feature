Feature: Events over Kafka

    Scenario: Headers without a content type
    Given a Kafka message with payload:
        """
        {"celsius": 180}
        """
    And Kafka headers:
        | key            | value      |
        | ce_specversion | 1.0        |
        | ce_id          | A-17       |
        | ce_type        | oven.ready |
        | ce_source      | /ovens/7   |
        | ce_subject     | 100%25     |
        | trace          | none       |
    When parsed as Kafka message
    Then the attributes are:
        | key         | value      |
        | id          | A-17       |
        | specversion | 1.0        |
        | type        | oven.ready |
        | source      | /ovens/7   |
        | subject     | 100%25     |
    And the data is equal to the following JSON:
        """
        {"celsius": 180}
        """

    Scenario Outline: Data in base64 (<contentType>)
    Given a Kafka message with payload:
        """
        {"specversion": "1.0", "id": "A-17", "type": "oven.ready", "source": "/ovens/7", "data_base64": "eyJjZWxzaXVzIjogMTgwfQ=="}
        """
    And Kafka headers:
        | key          | value         |
        | content-type | <contentType> |
    When parsed as Kafka message
    Then the attributes are:
        | key         | value      |
        | id          | A-17       |
        | specversion | 1.0        |
        | type        | oven.ready |
        | source      | /ovens/7   |
    And the data is equal to the following JSON:
        """
        {"celsius": 180}
        """
    Examples:
    | contentType                  |
    | application/cloudevents+json |
    | APPLICATION/cloudevents+json |
