resource "google_service_account" "exporter" {
  account_id   = "exporter"
  display_name = "Export job"
}

resource "google_storage_bucket_iam_member" "exporter" {
  bucket = google_storage_bucket.reports.name
  role   = "roles/storage.objectViewer"
  member = google_service_account.exporter.member
}
