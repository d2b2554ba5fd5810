resource "terraform_data" "mail_queue" {
  # arn:aws:sqs:eu-central-1:123456789012:mail-outgoing
}

resource "terraform_data" "mail_dead_letter_queue" {
  # arn:aws:sqs:eu-central-1:123456789012:mail-dead-letter
}
