terraform {
  required_providers {
    cloudflare = {
      source  = "cloudflare/cloudflare"
      version = "~> 1.18"
    }
  }
}

# A plan of new records asks the account nothing: any token will do.
provider "cloudflare" {
  email  = "nobody@example.com"
  token  = "placeholder"
  org_id = "placeholder"
}
