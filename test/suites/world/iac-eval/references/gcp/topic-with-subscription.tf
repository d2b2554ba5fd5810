resource "google_pubsub_topic" "orders" {
  name = "orders"
}

resource "google_pubsub_topic" "dead" {
  name = "orders-dead"
}

resource "google_pubsub_subscription" "worker" {
  name  = "orders-worker"
  topic = google_pubsub_topic.orders.id

  dead_letter_policy {
    dead_letter_topic     = google_pubsub_topic.dead.id
    max_delivery_attempts = 5
  }
}
