output "dns_zone_name" {
  description = "Name of the DNS zone."
  value       = terraform_data.dns_zone.input.name
}
