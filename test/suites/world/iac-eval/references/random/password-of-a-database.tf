resource "random_password" "orders" {
  length  = 32
  special = false

  keepers = {
    rotation = terraform_data.orders_database.input.rotation
  }
}
