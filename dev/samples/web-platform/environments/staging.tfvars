environment  = "staging"
zones        = ["a", "b"]
min_replicas = 2
