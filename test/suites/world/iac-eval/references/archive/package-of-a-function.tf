data "archive_file" "export" {
  type        = "zip"
  source_dir  = "${path.module}/src"
  output_path = "${path.module}/build/export.zip"
}

resource "terraform_data" "export" {
  input = {
    name     = "export"
    checksum = data.archive_file.export.output_base64sha256
  }
}
