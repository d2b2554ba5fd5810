output "network_id" {
  description = "Identifier of the network, for the roots of the services."
  value       = terraform_data.network.id
}
