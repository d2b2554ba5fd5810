module "network" {
  source = "./modules/network"

  name_prefix   = local.name_prefix
  region        = var.region
  address_space = var.address_space
  zones         = var.zones
  tags          = local.common_tags
}

module "service" {
  source   = "./modules/service"
  for_each = local.services

  name       = "${local.name_prefix}-${each.key}"
  port       = each.value.port
  public     = each.value.public
  replicas   = each.value.replicas
  subnet_ids = each.value.public ? module.network.public_subnet_ids : module.network.private_subnet_ids
  tags       = local.common_tags
}

resource "terraform_data" "dns_zone" {
  input = {
    name = "${local.name_prefix}.example.com"
    tags = local.common_tags
  }
}

resource "terraform_data" "dns_record" {
  for_each = { for name, service in local.services : name => service if service.public }

  input = {
    zone   = terraform_data.dns_zone.output.name
    name   = each.key
    target = module.service[each.key].endpoint
  }
}
