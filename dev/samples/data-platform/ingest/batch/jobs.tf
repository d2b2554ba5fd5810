resource "terraform_data" "nightly_export" {
  input = {
    name     = "nightly-export"
    schedule = "0 2 * * *"
    source   = "warehouse_orders"
  }
}
