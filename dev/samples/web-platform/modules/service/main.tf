resource "terraform_data" "firewall_rule" {
  input = {
    name   = "${var.name}-ingress"
    port   = var.port
    source = var.public ? "0.0.0.0/0" : "10.0.0.0/8"
    tags   = var.tags
  }
}

resource "terraform_data" "deployment" {
  input = {
    name     = var.name
    replicas = var.replicas
    port     = var.port
    subnets  = var.subnet_ids
    tags     = var.tags
  }

  depends_on = [terraform_data.firewall_rule]
}
