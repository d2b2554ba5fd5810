variable "project" {
  description = "Short name that starts every resource name."
  type        = string
  default     = "shop"

  validation {
    condition     = can(regex("^[a-z][a-z0-9]{1,11}$", var.project))
    error_message = "The project is 2 to 12 lower-case letters and digits."
  }
}

variable "environment" {
  description = "Stage of this deployment."
  type        = string

  validation {
    condition     = contains(["dev", "staging", "production"], var.environment)
    error_message = "The environment is dev, staging or production."
  }
}

variable "region" {
  description = "Region of all resources."
  type        = string
  default     = "eu-central-1"
}

variable "address_space" {
  description = "CIDR block of the network."
  type        = string
  default     = "10.20.0.0/16"
}

variable "zones" {
  description = "Availability zones, one public and one private subnet each."
  type        = list(string)
  default     = ["a", "b"]
}

variable "owner" {
  description = "Team that is called when something breaks."
  type        = string
  default     = "platform-team"
}

variable "min_replicas" {
  description = "Replicas that every service keeps running."
  type        = number
  default     = 1
}
