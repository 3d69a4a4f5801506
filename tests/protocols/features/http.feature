Feature: Events over HTTP

    Scenario Outline: Headers in any case (<prefix>)
    Given an HTTP request
        """
        PUT /bakeries/4 HTTP/1.1
        Host: bakery.example.com
        <prefix>-SpecVersion: 1.0
        <prefix>-Type: oven.ready
        <prefix>-Id: A-17
        <prefix>-Source: /bakeries/4/ovens/7
        <prefix>-Subject: %C3%86r%C3%B8
        content-type: application/vnd.oven+json

        [180, 181]
        """
    When parsed as HTTP request
    Then the attributes are:
        | key             | value                     |
        | id              | A-17                      |
        | specversion     | 1.0                       |
        | type            | oven.ready                |
        | source          | /bakeries/4/ovens/7       |
        | subject         | Ærø                       |
        | datacontenttype | application/vnd.oven+json |
    And the data is equal to the following JSON:
        """
        [180,
         181]
        """
    Examples:
    | prefix |
    | ce     |
    | Ce     |
    | CE     |

    Scenario: An event that is labelled as plain JSON
    Given an HTTP request
        """
        POST / HTTP/1.1
        Content-Type: application/json

        {"specversion": "1.0", "id": "A-17", "type": "oven.ready", "source": "/ovens/7", "subject": null, "data": "hot"}
        """
    When parsed as HTTP request
    Then the attributes are:
        | key         | value      |
        | id          | A-17       |
        | specversion | 1.0        |
        | type        | oven.ready |
        | source      | /ovens/7   |
    And the data is equal to the following JSON:
        """
        "hot"
        """
