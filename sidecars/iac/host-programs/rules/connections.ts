import { decodeOrKeep } from '../../../../config/mask-url.ts'
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
import { type Findings, type ProgramKind, reaching } from '../findings.ts'
import { addressReach, addressWhy, type Place, pathReach } from './place.ts'

const OF_HOST = 'it reads credentials of the host, and a file or program that is named there'
const RUNS_TOOL = 'it runs the command line tool of the cloud'
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
  const backends = settings
    .flatMap(({ body }) => blocksOf(body, 'backend', 1))
    .flatMap(({ labels: [type = ''], line, body: config }) =>
      judgeBackend({ construct: `backend "${type}"`, type, line, config }, place),
    )
  const keys = settings
    .flatMap(({ body }) => blocksOf(body, 'encryption', 0))
    .flatMap(({ body }) => blocksOf(body, 'key_provider', 2))
    .flatMap(({ labels: [type = ''], line, body: config }) =>
      judgeArguments({ construct: `key_provider "${type}"`, type, line, config }, place),
    )
  return [...clouds, ...backends, ...keys, ...findRemoteStates(root, place)]
}

const runsElsewhere = (line: number, construct: string): Findings[number] => ({
  line,
  construct,
  reach: 'the engine would send the whole configuration to another service and run it there',
  kind: 'cloud',
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

const judgeArguments = ({ construct, type, line, config }: Backend, place: Place): Findings =>
  judgeEach(config, line, construct, (key, value, refuse) => {
    if (FILE_ARGUMENTS.test(key)) {
      if (!isOwnKeysFile(key, value, place)) refuse(OF_HOST)
    } else if (key === 'use_cli' && !isFalse(value)) refuse(RUNS_TOOL)
    else if (key === 'credentials' && (type === 'gcs' || type === '')) judgeGoogle(value, refuse)
    else if (ADDRESSES_OF_CREDENTIALS.test(key) && value.kind !== 'object') {
      if (!place.isOwnOverride) refuse(ELSEWHERE)
    } else if (key === 'conn_str') refuse(postgresReach(value, place))
    else if ((type === 'local' || type === '') && (key === 'path' || key === 'workspace_dir'))
      refuse(pathReach(value, place))
    else if (ADDRESS_ARGUMENTS.test(key) && !place.isOwnOverride)
      for (const { value: text } of stringsOf(value)) refuse(addressWhy(addressReach(text, place, 'host')))
  })

type Refuse = (reach: string | null, kind?: ProgramKind, known?: boolean) => void

/** Judges every set argument of a block, at any depth. */
function judgeEach(
  body: ConfigNode,
  start: number,
  construct: string,
  judge: (key: string, value: ConfigNode, refuse: Refuse) => void,
): Findings {
  const findings: Findings = []
  for (const { key, line, value } of descendantsOf(body))
    if (key !== null && !isUnset(value))
      judge(key, value, (reach, kind, known) => {
        const found = reaching(line || start, `${construct} with ${key}`, reach, kind)
        findings.push(...(known ? found.map((finding) => ({ ...finding, known })) : found))
      })
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
function judgeGoogle(value: ConfigNode, refuse: (reach: string) => void): void {
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
  const named = hosts.flatMap((host) => decodeOrKeep(host).split(',')).filter((host) => host !== '')
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
    {
      line,
      construct,
      reach: `its ${what} is not written literally, so it cannot be judged: write it as text`,
      kind: 'state',
    },
  ]
  const backends = entriesNamed(body, 'backend')
  const types = backends.map(({ value }) => (value.kind === 'string' && value.whole ? value.value : null))
  if (types.includes(null)) return refuse('backend')
  const configs = entriesNamed(body, 'config').filter(({ value }) => !isUnset(value))
  const dynamic = entriesNamed(body, 'dynamic')
  if (dynamic.length > 0 || configs.some(({ value }) => !isLiteralObject(value))) return refuse('config')
  // The engine merges override files, so that the backend may be in another file than its settings.
  const kinds = types.length > 0 ? types : ['']
  return kinds.flatMap((kind) => {
    const type = kind ?? ''
    const backend = { construct: `${construct} of backend "${type}"`, type }
    return (configs.length > 0 ? configs : [NO_CONFIG]).flatMap((entry) =>
      judgeBackend({ ...backend, line: entry.line || line, config: entry.value }, place),
    )
  })
}

const NO_CONFIG: ConfigEntry = { key: 'config', line: 0, value: { kind: 'object', entries: [] } }

/** Reports whether all keys of the object are literal. Its values may be computed. */
function isLiteralObject(node: ConfigNode): boolean {
  if (node.kind !== 'object') return false
  return entriesOf(node).every(({ key, value }) => key !== null && (value.kind !== 'object' || isLiteralObject(value)))
}

/** Arguments that read credentials of the host: such files can name programs and were not given to this job. */
const HOST_CREDENTIALS =
  /^(?:shared_config_files?|shared_credentials_(?:files?|dir)|credential_process|(?:aws_)?web_identity_token_file|aws_shared_credentials_file|config_paths?|kubeconfig(?:_path)?|client_certificate_path|oidc_token_file_path|client_id_file_path|client_secret_file_path|private_key_path|config_file_profile|keytab_path|krb5conf_path|krbconf_path|credentials_file|token_file(?:name)?|service_account_key_file|oidc_token_file|profile_file)$/
/** Arguments that choose a profile of a file which is not theirs to name: the sandbox has the operator's own, or none. */
const NAMES_A_PROFILE = /^config_file_profile$/
/** Other arguments that name a file. One inside the repository is harmless. */
const FILE =
  /(?:_file|_files|_dir|_dirs|_bundle|_filename|cacert|ca_cert|cert_path|key_path|keyring|_config_path|plugins_path|repository_cache)$/
const SENDS_CREDENTIALS =
  /^(?:metadata_host|msi_endpoint|oidc_request_url|credentials_uri|ec2_metadata_service_endpoint)$/
const HOST = /(?:^|_)(?:host|hostname|address|addr|server|endpoint|uri|url)$/

/** Finds provider arguments that name files or programs of the host, or connect to it. */
export const findProviders = ({ root }: ConfigTree, place: Place): Findings =>
  blocksOf(root, 'provider', 1).flatMap(({ labels: [type = ''], line, body }) =>
    judgeEach(body, line, `provider "${type}"`, (key, value, refuse) => {
      if (HOST_CREDENTIALS.test(key)) refuse(OF_HOST, 'credentials', NAMES_A_PROFILE.test(key))
      else if (key === 'use_cli' && value.kind === 'word' && value.word === 'true') refuse(RUNS_TOOL, 'credentials')
      else if (key === 'credentials' && /^google/.test(type)) judgeGoogle(value, refuse)
      else if (SENDS_CREDENTIALS.test(key)) refuse('it sends the credentials to another address')
      else if (value.kind === 'string' || value.kind === 'array') judgeTexts(key, value, place, refuse)
    }),
  )

function judgeTexts(key: string, value: ConfigNode, place: Place, refuse: Refuse): void {
  for (const text of stringsOf(value)) {
    const path =
      FILE.test(key) && !/^-----BEGIN/.test(text.value.trim()) ? pathReach({ kind: 'string', ...text }, place) : null
    refuse(path)
    if (path !== null) return
    const reach = addressReach(text.value, place, HOST.test(key) ? 'host' : 'url')
    // Company clusters and databases are in private networks; the sandbox decides which of them are reachable.
    if (reach !== 'a private network') refuse(addressWhy(reach))
  }
}
