import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'

const DOCS = 'https://cloud.google.com'

export const gcpDataTable: Rule[] = tableRules(
  'gcp',
  `
[TRANSIT]
${DOCS}/sql/docs/postgres/configure-ssl-instance
google_sql_database_instance settings.ip_configuration.ssl_mode ALLOW_UNENCRYPTED_AND_ENCRYPTED|unset if settings.ip_configuration.require_ssl!=true !master_instance_name
${DOCS}/alloydb/docs/manage-ssl-settings
google_alloydb_instance client_connection_config.ssl_config.ssl_mode ALLOW_UNENCRYPTED_AND_ENCRYPTED
${DOCS}/memorystore/docs/redis/about-in-transit-encryption
google_redis_instance transit_encryption_mode DISABLED|unset
google_redis_cluster transit_encryption_mode TRANSIT_ENCRYPTION_MODE_DISABLED|unset
google_memorystore_instance transit_encryption_mode TRANSIT_ENCRYPTION_DISABLED|unset
${DOCS}/functions/docs/concepts/http#security_levels
google_cloudfunctions_function https_trigger_security_level SECURE_OPTIONAL
${DOCS}/appengine/docs/standard/reference/app-yaml#handlers_element
google_app_engine_standard_app_version,google_app_engine_flexible_app_version handlers.security_level SECURE_NEVER

[OLD_TLS]
${DOCS}/load-balancing/docs/ssl-policies-concepts
google_compute_ssl_policy,google_compute_region_ssl_policy min_tls_version TLS_1_0,TLS_1_1|unset
google_compute_ssl_policy,google_compute_region_ssl_policy profile COMPATIBLE|unset

[KEY_ROTATION]
${DOCS}/kms/docs/key-rotation
google_kms_crypto_key rotation_period unset if purpose!=ASYMMETRIC_SIGN,ASYMMETRIC_DECRYPT,MAC,RAW_ENCRYPT_DECRYPT,KEY_ENCAPSULATION import_only!=true

[NO_DNSSEC]
${DOCS}/dns/docs/dnssec
google_dns_managed_zone dnssec_config.state off|unset if visibility!=private
google_dns_managed_zone dnssec_config.default_key_specs.algorithm rsasha1

[NO_PROTECTION]
${DOCS}/sql/docs/postgres/deletion-protection
google_sql_database_instance,google_bigtable_instance,google_bigquery_table,google_spanner_database,google_container_cluster,google_alloydb_cluster deletion_protection false
${DOCS}/spanner/docs/prevent-database-deletion
google_spanner_database enable_drop_protection false|unset

[FORCE_DESTROY]
https://registry.terraform.io/providers/hashicorp/google/latest/docs
google_storage_bucket,google_dns_managed_zone,google_spanner_instance,google_bigtable_instance force_destroy true
google_bigquery_dataset delete_contents_on_destroy true

[CLUSTER_SECRETS]
${DOCS}/kubernetes-engine/docs/how-to/encrypting-secrets
google_container_cluster database_encryption.state DECRYPTED

[BACKUPS_OFF]
${DOCS}/sql/docs/postgres/backup-recovery/backups
google_sql_database_instance settings.backup_configuration.enabled false|unset if !master_instance_name
${DOCS}/alloydb/docs/backup/overview
google_alloydb_cluster automated_backup_policy.enabled false
${DOCS}/storage/docs/object-versioning
google_storage_bucket versioning.enabled false
`,
  {
    NO_DNSSEC: {
      name: 'network.no-dnssec',
      title: 'Zone without signatures',
      reason: 'Answers for the zone can be forged on the way.',
      fix: 'Set dnssec_config.state to on, with keys of a current algorithm.',
      severity: 'info',
      told: 'once',
      says: 'leaves answers of the zone without a signature that holds',
    },

    FORCE_DESTROY: {
      name: 'storage.force-destroy',
      title: 'Deletion does not ask whether it is empty',
      reason: 'A later deletion takes everything inside with it, without a question.',
      fix: 'Leave force_destroy (delete_contents_on_destroy) off where data matters.',
      severity: 'warning',
      says: 'is true',
    },
    CLUSTER_SECRETS: {
      name: 'encryption.plain-cluster-secrets',
      title: 'Secrets of the cluster without a key of their own',
      reason: 'Secrets in the store of the cluster are protected by the encryption of the disk only.',
      fix: 'Set database_encryption to ENCRYPTED with a key.',
      severity: 'info',
      says: 'leaves secrets of the cluster plain',
    },
  },
)
