import { describe, expect, it } from 'vitest'
import { scanHcl } from '../../../../../sidecars/iac/host-programs/inspect.ts'

const PLACE = {
  workspace: '/work/repo/root',
  boundary: '/work/repo',
  folder: '/work/repo/root',
  isOwnOverride: false,
  hasPlainKeys: false,
  overrideFilename: 'backend_override.tf',
  allowedHosts: [],
}
const found = (type: string, body: string) =>
  scanHcl(`${type} "x" {\n${body}\n}\n`, PLACE).findings.map(({ construct, reach }) => `${construct}: ${reach}`)

describe('arguments of providers that name a file', () => {
  it.each([
    ['resource "azurerm_linux_web_app"', 'zip_deploy_file = "/proc/self/environ"', 'zip_deploy_file'],
    ['resource "azurerm_function_app_flex_consumption"', 'zip_deploy_file = "~/.azure/x"', 'zip_deploy_file'],
    ['resource "aws_synthetics_canary"', 'zip_file = "../../other/x.zip"', 'zip_file'],
    ['resource "aws_connect_contact_flow"', 'filename = "/etc/passwd"', 'filename'],
    ['resource "google_apigee_api"', 'config_bundle = "/etc/passwd"', 'config_bundle'],
    ['data "google_storage_object_signed_url"', 'credentials = "/key.json"', 'credentials'],
    ['data "google_artifact_registry_file"', 'output_path = "/tmp/x"', 'output_path'],
    ['resource "oci_log_analytics_namespace_lookup"', 'register_lookup_file = "/etc/passwd"', 'register_lookup_file'],
    [
      'resource "oci_datascience_ml_application_implementation"',
      'ml_application_package = {\n  path = "/etc/passwd"\n}',
      'ml_application_package.path',
    ],
    [
      'resource "oci_apm_synthetics_monitor"',
      'dynamic "configuration" {\n  for_each = [1]\n  content {\n    database_wallet_details {\n      database_wallet = "/etc/passwd"\n    }\n  }\n}',
      'configuration.database_wallet_details.database_wallet',
    ],
  ])('%s with %s is refused', (type, body, name) => {
    expect(found(type, body)).toEqual([expect.stringContaining(`${type} with ${name}: the path `)])
  })

  it('files of the repository and equal names elsewhere are not', () => {
    expect(found('resource "azurerm_linux_web_app"', 'zip_deploy_file = "build/app.zip"')).toEqual([])
    expect(found('resource "aws_s3_object"', 'metadata = {\n  source = "/var/log"\n}')).toEqual([])
    expect(found('resource "aws_emr_cluster"', 'configurations = "https://example.com/x.json"')).toEqual([])
  })
})

describe('requests of providers', () => {
  it.each([
    ['data "http"', 'url = "http://127.0.0.1/"', 'url'],
    ['data "tls_certificate"', 'url = "https://127.0.0.1:8082"', 'url'],
    ['data "tls_certificate"', 'url = "tls://169.254.169.254:443"', 'url'],
    ['resource "aws_emr_cluster"', 'configurations = "http://169.254.169.254/latest/meta-data"', 'configurations'],
  ])('%s with %s is refused', (type, body, name) => {
    expect(found(type, body)).toEqual([expect.stringContaining(`${type} with ${name}: the address leads to `)])
  })

  it('an identity provider in public is asked for its certificate', () => {
    expect(found('data "tls_certificate"', 'url = "https://token.actions.githubusercontent.com"')).toEqual([])
  })
})
