resource "terraform_data" "network" {
  input = {
    name          = "${local.prefix}-network"
    address_space = "10.40.0.0/16"
    tags          = local.common_tags
  }
}

resource "terraform_data" "subnet" {
  for_each = {
    a = "10.40.0.0/20"
    b = "10.40.16.0/20"
  }

  input = {
    name    = "${local.prefix}-${each.key}"
    network = terraform_data.network.id
    range   = each.value
  }
}

resource "terraform_data" "office_tunnel" {
  input = {
    name                 = "${local.prefix}-office-tunnel"
    network              = terraform_data.network.id
    encryption           = "aes256-gcm"
    idle_timeout_minutes = 30
    tags                 = local.common_tags
  }
}
