resource "terraform_data" "orders_age" {
  input = {
    name      = "orders-age"
    queue     = terraform_data.orders_queue.output.name
    threshold = 300
  }
}
