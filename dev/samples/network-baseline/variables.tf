variable "region" {
  description = "Region of the network."
  type        = string
  default     = "eu-central-1"
}
