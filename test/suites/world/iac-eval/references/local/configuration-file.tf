resource "local_file" "orders" {
  filename        = "${path.module}/rendered/orders.json"
  file_permission = "0600"

  content = jsonencode({
    name = "orders"
    port = 8080
  })
}
