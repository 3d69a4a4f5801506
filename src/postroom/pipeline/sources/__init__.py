"""Where records come from: files, Kafka, DataFrames."""
