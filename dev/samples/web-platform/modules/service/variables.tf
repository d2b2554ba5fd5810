variable "name" {
  type = string
}

variable "port" {
  type = number
}

variable "public" {
  description = "Whether the internet may reach the service."
  type        = bool
  default     = false
}

variable "replicas" {
  type = number

  validation {
    condition     = var.replicas > 0
    error_message = "A service has at least one replica."
  }
}

variable "subnet_ids" {
  type = list(string)
}

variable "tags" {
  type = map(string)
}
