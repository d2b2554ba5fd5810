terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.60"
    }
  }
}

# A plan of new resources asks the account nothing with these settings.
provider "aws" {
  region                      = "eu-central-1"
  access_key                  = "made-up"
  secret_key                  = "made-up"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  skip_requesting_account_id  = true
}
