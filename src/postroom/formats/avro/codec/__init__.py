"""Read and write Avro's binary and JSON encodings."""
