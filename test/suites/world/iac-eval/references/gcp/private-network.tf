resource "google_compute_network" "main" {
  name                    = "main"
  auto_create_subnetworks = false
}

resource "google_compute_subnetwork" "apps" {
  name                     = "apps"
  region                   = "europe-west3"
  network                  = google_compute_network.main.id
  ip_cidr_range            = "10.60.0.0/20"
  private_ip_google_access = true

  log_config {
    aggregation_interval = "INTERVAL_5_MIN"
    flow_sampling        = 0.5
    metadata             = "INCLUDE_ALL_METADATA"
  }
}

resource "google_compute_router" "main" {
  name    = "main"
  region  = "europe-west3"
  network = google_compute_network.main.id
}

resource "google_compute_router_nat" "main" {
  name                               = "main"
  region                             = "europe-west3"
  router                             = google_compute_router.main.name
  nat_ip_allocate_option             = "AUTO_ONLY"
  source_subnetwork_ip_ranges_to_nat = "ALL_SUBNETWORKS_ALL_IP_RANGES"
}
