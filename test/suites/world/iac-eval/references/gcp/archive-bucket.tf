resource "google_storage_bucket" "archive" {
  name                        = "example-project-audit-archive"
  location                    = "EUROPE-WEST3"
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"

  versioning {
    enabled = true
  }

  lifecycle_rule {
    condition {
      age        = 365
      with_state = "ARCHIVED"
    }

    action {
      type = "Delete"
    }
  }
}
