output "network_id" {
  value = terraform_data.network.id
}

output "public_subnet_ids" {
  value = terraform_data.public_subnet[*].id
}

output "private_subnet_ids" {
  value = terraform_data.private_subnet[*].id
}
