"""Apache Avro, versions 1.x."""
