resource "null_resource" "migration" {
  triggers = {
    schema_version = 12
  }
}
