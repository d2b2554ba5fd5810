/** Provider arguments that use files of the engine's machine, or send requests during a plan; no schema marks them. */

const CHARTS = ['chart', 'keyring', 'repository_ca_file', 'repository_cert_file', 'repository_key_file']

/** Types by the arguments that name a file. Nested arguments have the path of their blocks. */
const FILES: Record<string, string[]> = {
  archive_file: ['source_file', 'source_dir', 'output_path'],
  aws_connect_contact_flow: ['filename'],
  aws_connect_contact_flow_module: ['filename'],
  aws_emr_cluster: ['configurations'],
  aws_gamelift_script: ['zip_file'],
  aws_lambda_function: ['filename'],
  aws_lambda_layer_version: ['filename'],
  aws_rds_custom_db_engine_version: ['filename'],
  aws_s3_bucket_object: ['source'],
  aws_s3_object: ['source'],
  aws_synthetics_canary: ['zip_file'],
  azurerm_function_app_flex_consumption: ['zip_deploy_file'],
  azurerm_linux_function_app: ['zip_deploy_file'],
  azurerm_linux_web_app: ['zip_deploy_file'],
  azurerm_linux_web_app_slot: ['zip_deploy_file'],
  azurerm_storage_blob: ['source'],
  azurerm_storage_share_file: ['source'],
  azurerm_windows_function_app: ['zip_deploy_file'],
  azurerm_windows_web_app: ['zip_deploy_file'],
  azurerm_windows_web_app_slot: ['zip_deploy_file'],
  google_apigee_api: ['config_bundle'],
  google_apigee_keystores_aliases_pkcs12: ['file'],
  google_apigee_sharedflow: ['config_bundle'],
  google_artifact_registry_file: ['output_path'],
  google_storage_bucket_object: ['source'],
  google_storage_object_signed_url: ['credentials'],
  helm_release: CHARTS,
  helm_template: CHARTS,
  local_file: ['filename', 'source'],
  local_sensitive_file: ['filename', 'source'],
  oci_apm_config_data_file: ['source'],
  oci_apm_synthetics_monitor: ['configuration.database_wallet_details.database_wallet'],
  oci_database_exadata_infrastructure: ['activation_file', 'multi_rack_configuration_file'],
  oci_database_exadata_infrastructure_compute: ['activation_file'],
  oci_database_exadata_infrastructure_configure_exascale_management: ['multi_rack_configuration_file'],
  oci_database_exadata_infrastructure_storage: ['activation_file'],
  oci_datascience_ml_application_implementation: ['ml_application_package.path'],
  oci_generic_artifacts_content_artifact_by_path: ['source'],
  oci_log_analytics_log_analytics_import_custom_content: ['import_custom_content_file'],
  oci_log_analytics_namespace_lookup: ['register_lookup_file'],
  oci_log_analytics_namespace_lookups_append_data_management: ['append_lookup_file'],
  oci_log_analytics_namespace_lookups_update_data_management: ['update_lookup_file'],
  oci_management_dashboard_management_dashboards_import: ['import_details_file'],
  oci_objectstorage_object: ['source'],
  template_dir: ['source_dir', 'destination_dir'],
  template_file: ['filename'],
}

/** Types by the arguments that name an address which the provider requests from the engine's machine. */
const REQUESTS: Record<string, string[]> = {
  aws_emr_cluster: ['configurations'],
  http: ['url'],
  tls_certificate: ['url'],
}

const ofType = (table: Record<string, string[]>, type: string): string[] =>
  Object.hasOwn(table, type) ? (table[type] ?? []) : []

/** Returns the paths of a type's arguments that name a file of the engine's machine, such as `package.path`. */
export const fileArguments = (type: string): string[] => ofType(FILES, type)

/** Returns the names of a type's arguments that name an address. */
export const addressArguments = (type: string): string[] => ofType(REQUESTS, type)
