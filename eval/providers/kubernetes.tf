terraform {
  required_providers {
    kubernetes = {
      source  = "hashicorp/kubernetes"
      version = ">= 2.30"
    }
  }
}

# A plan of new resources asks the cluster nothing.
provider "kubernetes" {
  host     = "https://127.0.0.1:6443"
  token    = "placeholder"
  insecure = true
}
