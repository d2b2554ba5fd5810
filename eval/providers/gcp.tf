terraform {
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 6.0"
    }
  }
}

# A plan of new resources asks the project nothing: any token will do.
provider "google" {
  project      = "example-project"
  region       = "europe-west3"
  access_token = "placeholder"
}
