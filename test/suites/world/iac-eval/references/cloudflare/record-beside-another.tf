resource "cloudflare_record" "docs" {
  domain = "example.com"
  name   = "docs"
  type   = "A"
  value  = cloudflare_record.www.value
  ttl    = 300
}
