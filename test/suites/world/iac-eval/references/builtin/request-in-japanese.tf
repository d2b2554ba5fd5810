resource "terraform_data" "payments_age" {
  input = {
    name      = "payments-age"
    queue     = terraform_data.payments_queue.output.name
    threshold = 300
  }
}
