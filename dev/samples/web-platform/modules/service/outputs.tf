output "endpoint" {
  value = "${var.name}.internal:${var.port}"
}

output "deployment_id" {
  value = terraform_data.deployment.id
}
