locals {
  name_prefix = "${var.project}-${var.environment}"

  common_tags = {
    project     = var.project
    environment = var.environment
    owner       = var.owner
    managed_by  = "platform"
  }

  services = {
    storefront = {
      port     = 8080
      public   = true
      replicas = var.min_replicas + 1
    }
    orders = {
      port     = 8081
      public   = false
      replicas = var.min_replicas
    }
    payments = {
      port     = 8082
      public   = false
      replicas = var.min_replicas
    }
  }
}
