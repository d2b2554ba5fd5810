variable "partitions" {
  type    = number
  default = 6
}

resource "terraform_data" "topic" {
  for_each = toset(["orders", "clicks"])

  input = {
    name       = each.key
    partitions = var.partitions
  }
}
