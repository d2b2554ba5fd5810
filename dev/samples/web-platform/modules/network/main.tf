resource "terraform_data" "network" {
  input = {
    name          = "${var.name_prefix}-network"
    region        = var.region
    address_space = var.address_space
    tags          = var.tags
  }
}

resource "terraform_data" "public_subnet" {
  count = length(var.zones)

  input = {
    name       = "${var.name_prefix}-public-${var.zones[count.index]}"
    network    = terraform_data.network.id
    cidr_block = cidrsubnet(var.address_space, 8, count.index)
  }
}

resource "terraform_data" "private_subnet" {
  count = length(var.zones)

  input = {
    name       = "${var.name_prefix}-private-${var.zones[count.index]}"
    network    = terraform_data.network.id
    cidr_block = cidrsubnet(var.address_space, 8, count.index + 128)
  }
}
