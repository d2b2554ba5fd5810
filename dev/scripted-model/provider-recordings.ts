import type { Recording } from './recording.ts'
import { small } from './small-recordings.ts'

/** Work with the providers that belong to no cloud. It can be planned where a mirror has them. */
export const PROVIDER_RECORDINGS: readonly Recording[] = [
  small({
    name: 'provider random',
    request: /random_password for the orders database/,
    reads: 'database.tf',
    edits: [
      {
        write: 'password.tf',
        content: `resource "random_password" "orders" {
  length  = 32
  special = false

  keepers = {
    rotation = terraform_data.orders_database.input.rotation
  }
}
`,
      },
    ],
    summary: 'Added a password of 32 characters that changes with the rotation number of the database.',
  }),
  small({
    name: 'provider null',
    request: /null_resource called migration/,
    reads: 'README.md',
    edits: [
      {
        write: 'migration.tf',
        content: `resource "null_resource" "migration" {
  triggers = {
    schema_version = 12
  }
}
`,
      },
    ],
    summary: 'Added the step migration, which is replaced with each version of the schema.',
  }),
  small({
    name: 'provider local',
    request: /rendered\/orders\.json .* as a local_file/,
    reads: 'README.md',
    edits: [
      {
        write: 'configuration.tf',
        content: `resource "local_file" "orders" {
  filename        = "\${path.module}/rendered/orders.json"
  file_permission = "0600"

  content = jsonencode({
    name = "orders"
    port = 8080
  })
}
`,
      },
    ],
    summary: 'Added the file with the configuration of the orders service.',
  }),
  small({
    name: 'provider tls',
    request: /self-signed certificate for the host test\.example\.com/,
    reads: 'README.md',
    edits: [
      {
        write: 'certificate.tf',
        content: `resource "tls_private_key" "test" {
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
`,
      },
    ],
    summary: 'Added a key and a certificate for test.example.com that is valid for 90 days.',
  }),
  small({
    name: 'provider time',
    request: /time_rotating of 30 days/,
    reads: 'README.md',
    edits: [
      {
        write: 'rotation.tf',
        content: `resource "time_rotating" "api_key" {
  rotation_days = 30
}

resource "terraform_data" "api_key" {
  triggers_replace = time_rotating.api_key.id

  input = {
    name = "orders"
  }
}
`,
      },
    ],
    summary: 'Added a rotation of 30 days and the key that is replaced with it.',
  }),
  small({
    name: 'provider archive',
    request: /Pack the folder src into build\/export\.zip/,
    reads: 'README.md',
    edits: [
      {
        write: 'package.tf',
        content: `data "archive_file" "export" {
  type        = "zip"
  source_dir  = "\${path.module}/src"
  output_path = "\${path.module}/build/export.zip"
}

resource "terraform_data" "export" {
  input = {
    name     = "export"
    checksum = data.archive_file.export.output_base64sha256
  }
}
`,
      },
    ],
    summary: 'Added the archive of the folder src and the checksum of it.',
  }),
  small({
    name: 'provider http',
    request: /check called api_health/,
    reads: 'main.tf',
    edits: [
      {
        write: 'checks.tf',
        content: `check "api_health" {
  data "http" "api" {
    url = "https://api.example.invalid/health"
  }

  assert {
    condition     = data.http.api.status_code == 200
    error_message = "The service does not answer with 200."
  }
}
`,
      },
    ],
    summary: 'Added a check that reads the health of the service.',
  }),
]
