environment   = "production"
address_space = "10.40.0.0/16"
zones         = ["a", "b", "c"]
min_replicas  = 3
