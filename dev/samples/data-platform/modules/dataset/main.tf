variable "name" {
  type = string
}

variable "retention_days" {
  type    = number
  default = 90
}

resource "terraform_data" "dataset" {
  input = {
    name           = var.name
    retention_days = var.retention_days
  }
}

output "id" {
  value = terraform_data.dataset.id
}
