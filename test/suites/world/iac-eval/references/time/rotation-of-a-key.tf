resource "time_rotating" "api_key" {
  rotation_days = 30
}

resource "terraform_data" "api_key" {
  triggers_replace = time_rotating.api_key.id

  input = {
    name = "orders"
  }
}
