output "network_id" {
  description = "Identifier of the network."
  value       = module.network.network_id
}

output "service_endpoints" {
  description = "Address of each service inside the network."
  value       = { for name, service in module.service : name => service.endpoint }
}

output "public_hosts" {
  description = "Host names that the internet reaches."
  value       = [for record in terraform_data.dns_record : "${record.output.name}.${record.output.zone}"]
}
