variable "database_password" {
  type      = string
  default   = null
  sensitive = true
}

resource "terraform_data" "database" {
  input = {
    name     = "orders"
    password = var.database_password
  }
}
