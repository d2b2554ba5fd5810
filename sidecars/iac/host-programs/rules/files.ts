import {
  blocksOf,
  type ConfigEntry,
  type ConfigTree,
  descendantsOf,
  entriesNamed,
  scopesOf,
  stringsOf,
} from '../config-tree.ts'
import { type Findings, reaching } from '../findings.ts'
import { addressReach, addressWhy, type Place, pathReach } from './place.ts'

/** Functions whose first argument is a path, the ones of the provider `local` included. */
const FILE_FUNCTION =
  /^(?:abspath|direxists|pathexpand|templatefile|file(?:base64(?:sha256|sha512)?|exists|md5|set|sha1|sha256|sha512)?)$/

const TYPED_BLOCKS = ['data', 'ephemeral', 'resource']

/** Finds literal paths out of the repository, in function calls and in arguments that name a file. */
export function findFiles({ root, calls }: ConfigTree, place: Place): Findings {
  const called = calls.flatMap(({ name, line, args: [first, second] }): Findings => {
    if (!FILE_FUNCTION.test(name)) return []
    const reach = pathReach(first, place) ?? (name === 'fileset' ? patternReach(first, second, place) : null)
    // The home folder of a sandbox is its own, and its name alone reads nothing.
    const known = name === 'pathexpand' && first?.kind === 'string' && first.whole && first.value === '~'
    return reaching(line, `${name}(${shown(first)})`, reach, 'file').map((finding) =>
      known ? { ...finding, known } : finding,
    )
  })
  const typed = scopesOf(root).flatMap((scope) =>
    TYPED_BLOCKS.flatMap((block) =>
      blocksOf(scope, block, 2).flatMap(({ labels: [type = ''], body }) =>
        [...findPaths(type, body, place), ...findCopies(body, place), ...findRequests(type, body, place)].map(
          (finding) => ({ ...finding, construct: `${block} "${type}" with ${finding.construct}` }),
        ),
      ),
    ),
  )
  return [...called, ...typed]
}

type CallArgument = ConfigTree['calls'][number]['args'][number] | undefined

/** Checks the pattern of `fileset`, which is joined to its folder and so can leave it as well. */
function patternReach(folder: CallArgument, pattern: CallArgument, place: Place): string | null {
  if (pattern?.kind !== 'string') return null
  const known = folder?.kind === 'string' && folder.whole ? folder.value.trim() : '.'
  return pathReach({ ...pattern, value: `${known || '.'}/${pattern.value}` }, place)
}

const shown = (node: CallArgument): string =>
  node?.kind === 'string'
    ? JSON.stringify(node.value.replaceAll(/\0(module|root)\0/g, (_mark, name) => `\${path.${name}}`))
    : '…'

function findPaths(type: string, body: ConfigTree['root'], place: Place): Findings {
  return ofType(FILES, type).flatMap((path) =>
    entriesAt(body, path.split('.')).flatMap(({ line, value }) =>
      reaching(line, path, pathReach(value, place), 'file'),
    ),
  )
}

/** Finds nested entries at every depth, because `dynamic` adds blocks around them. */
const entriesAt = (body: ConfigTree['root'], [name = '', ...rest]: string[]): ConfigEntry[] =>
  rest.length === 0 ? entriesNamed(body, name) : [...descendantsOf(body)].filter(({ key }) => key === rest.at(-1))

/** Finds the provisioner `file`, which copies from this machine to another. */
function findCopies(body: ConfigTree['root'], place: Place): Findings {
  return blocksOf(body, 'provisioner', 1).flatMap(({ body: copy }) =>
    entriesNamed(copy, 'source').flatMap(({ line, value }) =>
      reaching(line, 'source of provisioner "file"', pathReach(value, place), 'file'),
    ),
  )
}

/** Finds requests that providers make themselves, mostly during a plan. */
function findRequests(type: string, body: ConfigTree['root'], place: Place): Findings {
  const names = ofType(REQUESTS, type)
  if (names.length === 0) return []
  return [...descendantsOf(body)].flatMap(({ key, line, value }) =>
    key !== null && names.includes(key)
      ? [...stringsOf(value)].flatMap(({ value: text }) => {
          const reach = addressReach(text, place)
          return reaching(line, key, reach === 'a private network' ? null : addressWhy(reach))
        })
      : [],
  )
}

const CHARTS = ['chart', 'keyring', 'repository_ca_file', 'repository_cert_file', 'repository_key_file']

/** Types by the arguments that name a file, which no schema marks. Nested arguments have the path of their blocks. */
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
