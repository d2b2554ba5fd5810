variable "name_prefix" {
  type = string
}

variable "region" {
  type = string
}

variable "address_space" {
  type = string
}

variable "zones" {
  type = list(string)
}

variable "tags" {
  type = map(string)
}
