locals {
  datasets = {
    orders    = 365
    customers = 365
    clicks    = 30
  }
}

module "dataset" {
  source   = "../modules/dataset"
  for_each = local.datasets

  name           = "warehouse_${each.key}"
  retention_days = each.value
}

output "datasets" {
  value = { for name, dataset in module.dataset : name => dataset.id }
}
