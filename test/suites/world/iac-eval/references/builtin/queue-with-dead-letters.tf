resource "terraform_data" "orders_dead" {
  input = {
    name = "orders-dead"
    tags = local.common_tags
  }
}

resource "terraform_data" "orders_work" {
  input = {
    name         = "orders-work"
    dead_letters = terraform_data.orders_dead.output.name
    tags         = local.common_tags
  }
}

resource "terraform_data" "orders_age" {
  input = {
    name      = "orders-work-age"
    threshold = 300
    tags      = local.common_tags
  }
}
