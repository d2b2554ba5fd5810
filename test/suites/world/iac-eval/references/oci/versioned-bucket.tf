resource "oci_objectstorage_bucket" "logs" {
  compartment_id = var.compartment_id
  namespace      = "examplens"
  name           = "app-logs"
  access_type    = "NoPublicAccess"
  versioning     = "Enabled"
}
