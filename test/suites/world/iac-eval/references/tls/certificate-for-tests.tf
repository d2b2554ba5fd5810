resource "tls_private_key" "test" {
  algorithm = "ED25519"
}

resource "tls_self_signed_cert" "test" {
  private_key_pem       = tls_private_key.test.private_key_pem
  validity_period_hours = 2160
  dns_names             = ["test.example.com"]
  allowed_uses          = ["digital_signature", "server_auth"]

  subject {
    common_name = "test.example.com"
  }
}
