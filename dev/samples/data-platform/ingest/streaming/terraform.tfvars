partitions = 3
