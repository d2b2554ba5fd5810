resource "kubernetes_namespace_v1" "payments" {
  metadata {
    name = "payments"
  }
}

resource "kubernetes_network_policy_v1" "closed" {
  metadata {
    name      = "deny-incoming"
    namespace = kubernetes_namespace_v1.payments.metadata[0].name
  }

  spec {
    pod_selector {}
    policy_types = ["Ingress"]
  }
}

resource "kubernetes_resource_quota_v1" "cpu" {
  metadata {
    name      = "cpu"
    namespace = kubernetes_namespace_v1.payments.metadata[0].name
  }

  spec {
    hard = {
      "requests.cpu" = "8"
      "limits.cpu"   = "8"
    }
  }
}

resource "kubernetes_service_account_v1" "app" {
  metadata {
    name      = "app"
    namespace = kubernetes_namespace_v1.payments.metadata[0].name
  }

  automount_service_account_token = false
}
