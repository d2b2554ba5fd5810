resource "terraform_data" "firewall_https" {
  input = {
    name    = "${local.prefix}-https"
    network = terraform_data.network.id
    port    = 443
    sources = ["10.0.0.0/8"]
    log     = true
  }
}

resource "terraform_data" "firewall_metrics" {
  input = {
    name    = "${local.prefix}-metrics"
    network = terraform_data.network.id
    port    = 9100
    sources = ["10.40.0.0/16"]
    log     = false
  }
}
