resource "terraform_data" "release" {
  input = {
    version = "1.4.2"
    channel = "stable"
  }
}

output "release_version" {
  value = terraform_data.release.output.version
}
