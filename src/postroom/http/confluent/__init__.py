"""The API of Confluent's Schema Registry over the same registry: subjects, versions, ids, compatibility, modes."""
