import { describe, expect, it } from 'vitest'
import { backendIn } from '../../../src/plan/code/backend.ts'

describe('the backend of a file', () => {
  it.each([
    ['main.tf', 'terraform {\n  backend "s3" {}\n}', 's3'],
    ['main.tf', '# a comment\nterraform {\n  required_version = ">= 1"\n  cloud {\n  }\n}', 'cloud'],
    ['main.tofu', 'terraform {\n  backend "gcs" { bucket = "a" }\n}\nresource "a" "b" {', 'gcs'],
    ['main.tf', '# terraform { backend "s3" {} }', null],
    ['main.tf', 'resource "aws_lb_target_group" "backend" {}', null],
    ['main.tf', 'locals { text = "terraform { backend s3 }" }', null],
    ['main.tf.json', '{"terraform": {"backend": {"azurerm": {}}}}', 'azurerm'],
    ['main.tf.json', '{"terraform": [{"\\u0062ackend": [{"http": {}}]}]}', 'http'],
    ['main.tf.json', '{"terraform": {"cloud": {}}}', 'cloud'],
    ['main.tf.json', '{"terraform": {"backend": ', null],
    ['README.md', 'terraform {\n  backend "s3" {}\n}', null],
  ])('in %s %j is %s', (name, text, expected) => {
    expect(backendIn(name, text)).toBe(expected)
  })
})
