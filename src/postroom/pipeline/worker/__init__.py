"""What runs in a Spark task: records in, one Parquet file per table out."""
