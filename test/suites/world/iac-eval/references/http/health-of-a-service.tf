check "api_health" {
  data "http" "api" {
    url = "https://api.example.invalid/health"
  }

  assert {
    condition     = data.http.api.status_code == 200
    error_message = "The service does not answer with 200."
  }
}
