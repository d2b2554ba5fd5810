resource "terraform_data" "flow_logs" {
  input = {
    name             = "${local.prefix}-flow-logs"
    retention_days   = 90
    sampling_percent = 100
    encrypted        = true
    tags             = local.common_tags
  }
}
