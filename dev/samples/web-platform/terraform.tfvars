environment  = "dev"
zones        = ["a"]
min_replicas = 1
