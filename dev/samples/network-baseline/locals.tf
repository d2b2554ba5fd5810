locals {
  prefix = "base-${var.region}"

  common_tags = {
    layer = "network"
    owner = "connectivity"
  }
}
