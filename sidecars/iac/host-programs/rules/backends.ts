import { STATE_KEYS_FILE } from '../../limits/workspace.ts'
import {
  blocksOf,
  type ConfigEntry,
  type ConfigNode,
  type ConfigTree,
  descendantsOf,
  entriesNamed,
  entriesOf,
  isUnset,
  scopesOf,
  stringsOf,
} from '../config-tree.ts'
import { type Findings, reaching } from '../findings.ts'
import { addressReach, addressWhy, decoded, type Place, pathReach } from './place.ts'

const HOST_CREDENTIALS = 'it reads credentials of the host, and a file or program that is named there'
const ELSEWHERE = 'it sends requests, and with some clouds the credentials, to another address'

/** Arguments of state backends that name a file or a program, in any block of the backend. */
const FILE_ARGUMENTS =
  /^(?:shared_config_files?|shared_credentials_files?|credential_process|web_identity_token_file|custom_ca_bundle|config_paths?|exec|client_certificate_path|oidc_token_file_path|client_id_file_path|client_secret_file_path|client_key_path|private_key_path|config_file_profile|ca_file|cert_file|key_file|cacert_file|credentials_file|oidc_token_file|token_file)$/
/** Arguments that name where credentials are checked or fetched, and proxies. */
const ADDRESSES_OF_CREDENTIALS =
  /^(?:sts_endpoint|iam_endpoint|sso_endpoint|sts|iam|sso|ec2_metadata_service_endpoint|metadata_host|msi_endpoint|oidc_request_url|credentials_uri|http_proxy|https_proxy)$/
const ADDRESS_ARGUMENTS =
  /^(?:endpoint|endpoints|s3|dynamodb|dynamodb_endpoint|storage_custom_endpoint|address|lock_address|unlock_address|host|hostname|domain|tablestore_endpoint|path_endpoint)$/

/** Finds state backends and remote states that would read, run or send something elsewhere. */
export function findBackends({ root }: ConfigTree, place: Place): Findings {
  const settings = blocksOf(root, 'terraform', 0)
  const clouds = settings.flatMap(({ body }) =>
    entriesNamed(body, 'cloud').map(({ line }) => runsElsewhere(line, 'cloud')),
  )
  const backends = settings.flatMap(({ body }) =>
    blocksOf(body, 'backend', 1).flatMap(({ labels, line, body: config }) =>
      judgeBackend({ construct: `backend "${labels[0]}"`, type: labels[0] ?? '', line, config }, place),
    ),
  )
  const keys = settings
    .flatMap(({ body }) => blocksOf(body, 'encryption', 0))
    .flatMap(({ body }) => blocksOf(body, 'key_provider', 2))
    .flatMap(({ labels, line, body: config }) =>
      judgeArguments({ construct: `key_provider "${labels[0]}"`, type: labels[0] ?? '', line, config }, place),
    )
  return [...clouds, ...backends, ...keys, ...findRemoteStates(root, place)]
}

const runsElsewhere = (line: number, construct: string): Findings[number] => ({
  line,
  construct,
  reach: 'the engine would send the whole configuration to another service and run it there',
})

interface Backend {
  construct: string
  type: string
  line: number
  config: ConfigNode
}

export function judgeBackend(backend: Backend, place: Place): Findings {
  if (backend.type === 'remote' || backend.type === 'cloud') return [runsElsewhere(backend.line, backend.construct)]
  return judgeArguments(backend, place)
}

function judgeArguments({ construct, type, line: start, config }: Backend, place: Place): Findings {
  const findings: Findings = []
  for (const { key, line: at, value } of descendantsOf(config)) {
    if (key === null || isUnset(value)) continue
    const line = at || start
    const refuse = (reach: string | null) => findings.push(...reaching(line, `${construct} with ${key}`, reach))
    if (FILE_ARGUMENTS.test(key)) {
      if (!isOwnKeysFile(key, value, place)) refuse(HOST_CREDENTIALS)
    } else if (key === 'use_cli' && !isFalse(value)) refuse('it runs the command line tool of the cloud')
    else if (key === 'credentials' && (type === 'gcs' || type === '')) judgeGoogle(value, refuse)
    else if (ADDRESSES_OF_CREDENTIALS.test(key) && value.kind !== 'object') {
      if (!place.isOwnOverride) refuse(ELSEWHERE)
    } else if (key === 'conn_str') refuse(postgresReach(value, place))
    else if ((type === 'local' || type === '') && (key === 'path' || key === 'workspace_dir'))
      refuse(pathReach(value, place))
    else if (ADDRESS_ARGUMENTS.test(key) && !place.isOwnOverride)
      for (const { value: text } of stringsOf(value)) refuse(addressWhy(addressReach(text, place, 'host')))
  }
  return findings
}

/** Reports whether this is the file for temporary keys that the platform's override file names. */
function isOwnKeysFile(key: string, value: ConfigNode, place: Place): boolean {
  if (key !== 'shared_credentials_files' || !place.isOwnOverride || !place.hasPlainKeys) return false
  const [item, ...others] = value.kind === 'array' ? value.items : []
  return others.length === 0 && item?.kind === 'string' && item.whole && item.value === STATE_KEYS_FILE
}

const isFalse = (node: ConfigNode): boolean =>
  (node.kind === 'word' && node.word === 'false') || (node.kind === 'string' && node.value === 'false')

/** Checks credentials of Google: JSON or the path of a file, either of which may name a file or a program. */
export function judgeGoogle(value: ConfigNode, refuse: (reach: string) => void): void {
  if (value.kind !== 'string') return
  const text = value.value.trim()
  if (text === '' && !value.whole) return
  if (!text.startsWith('{')) refuse('it names a file of credentials, which can name further files and programs')
  else if (/credential_source|executable/.test(text)) refuse('the credentials name a file, an address or a program')
}

const POSTGRES_FILES = /(?:^|[\s?&])(?:passfile|service|servicefile|sslcert|sslkey|sslrootcert|sslcrl|sslpassword)\s*=/i

/** Checks a connection string of PostgreSQL (address or words). Without a host it means a local socket. */
function postgresReach(value: ConfigNode, place: Place): string | null {
  if (value.kind !== 'string' || (value.value === '' && !value.whole)) return null
  const text = value.value.trim()
  if (POSTGRES_FILES.test(text)) return 'the connection string names files of this machine'
  const url = /^postgres(?:ql)?:\/\//i.test(text)
  const words = [...text.matchAll(/(?:^|[\s?&])(?:host|hostaddr)\s*=\s*'?([^\s'&]*)/gi)].map(([, host = '']) => host)
  const hosts = url ? [...words, ...(/\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(text)?.[1]?.split(',') ?? [])] : words
  const named = hosts.flatMap((host) => decoded(host).split(',')).filter((host) => host !== '')
  if (named.length === 0 && value.whole) return 'the connection string names no host, which means this machine'
  const reach = named.map((host) => addressReach(host, place, 'host')).find((found) => found !== null)
  return addressWhy(reach ?? null)
}

/** Finds `terraform_remote_state` as data source and wherever else that type may occur. */
function findRemoteStates(root: ConfigNode, place: Place): Findings {
  return scopesOf(root).flatMap((scope) =>
    ['data', 'ephemeral', 'resource'].flatMap((block) =>
      blocksOf(scope, block, 2)
        .filter(({ labels }) => labels[0] === 'terraform_remote_state')
        .flatMap(({ body, line }) => judgeRemoteState(body, `${block} "terraform_remote_state"`, line, place)),
    ),
  )
}

function judgeRemoteState(body: ConfigNode, construct: string, line: number, place: Place): Findings {
  const refuse = (what: string): Findings => [
    { line, construct, reach: `its ${what} is not written literally, so it cannot be judged: write it as text` },
  ]
  const backends = entriesNamed(body, 'backend')
  const types = backends.map(({ value }) => (value.kind === 'string' && value.whole ? value.value : null))
  if (types.includes(null)) return refuse('backend')
  const configs = entriesNamed(body, 'config').filter(({ value }) => !isUnset(value))
  const dynamic = entriesNamed(body, 'dynamic')
  if (dynamic.length > 0 || configs.some(({ value }) => !isLiteralObject(value))) return refuse('config')
  // The engine merges override files, so that the backend may be in another file than its settings.
  const kinds = types.length > 0 ? types : ['']
  return kinds.flatMap((type) =>
    (configs.length > 0 ? configs : [NO_CONFIG]).flatMap((entry) =>
      judgeBackend(
        {
          construct: `${construct} of backend "${type}"`,
          type: type ?? '',
          line: entry.line || line,
          config: entry.value,
        },
        place,
      ),
    ),
  )
}

const NO_CONFIG: ConfigEntry = { key: 'config', line: 0, value: { kind: 'object', entries: [] } }

/** Reports whether all keys of the object are literal. Its values may be computed. */
function isLiteralObject(node: ConfigNode): boolean {
  if (node.kind !== 'object') return false
  return entriesOf(node).every(({ key, value }) => key !== null && (value.kind !== 'object' || isLiteralObject(value)))
}
