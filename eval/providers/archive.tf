terraform {
  required_providers {
    archive = {
      source = "hashicorp/archive"
    }
  }
}
