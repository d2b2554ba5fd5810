import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { ConsoleExample } from '../../config/types.ts'
import { readText, writeAtomically } from '../files.ts'
import type { GitHost } from '../git-host/start.ts'
import { EXAMPLES, type Example, type ExampleName, SCOPE, uriOfSample } from '../scripted-model/examples.ts'
import { type Choices, type Document, section } from './choices.ts'

/** Addresses of the embedded services. Null where a real one is used. */
export interface Embedded {
  databaseUrl: string | null
  cacheUrl: string | null
  objectStoreUrl: string | null
  git_host: GitHost | null
  modelUrl: string | null
  /** Address of the sample account, whose resources imports list. */
  cloudUrl: string | null
  /** Address of the collector of spans and registry of prompts. */
  collector_url: string | null
  iacUrl: string
}

/**
 * Makes the configuration of core and worker: the base with the addresses of this stack.
 * @param url address of the core; pull requests link to the sessions there unless the base has another address
 */
export function configurationDocument(choices: Choices, embedded: Embedded, folder: string, url: string): Document {
  const { base } = choices
  const { objectStoreUrl, git_host, modelUrl } = embedded
  const storage = objectStoreUrl
    ? {
        provider: 'BUNDLED',
        endpoint_url: objectStoreUrl,
        public_endpoint_url: objectStoreUrl,
        state_credentials: 'scoped',
        sts_endpoint_url: '',
        ...STORE_KEYS,
      }
    : (choices.storage ?? {})
  const git = git_host
    ? {
        provider: 'GITHUB',
        base_url: git_host.url,
        api_url: git_host.api_url,
        ca_file: git_host.ca_file,
        allow_private_hosts: [git_host.host],
        pat_user_env: 'GIT_USER',
        pat_token_env: 'GIT_TOKEN',
      }
    : {}
  const merged = (name: string, fields: Document) => ({ [name]: { ...section(base, name), ...fields } })
  const session_url = section(base, 'http').session_url || `${url}/console/sessions/{session_id}`
  const console_examples = git_host && modelUrl ? consoleExamples(git_host.repositories) : null
  const services = section(base, 'services')
  const iac = { ...section(services, 'iac'), endpoint: embedded.iacUrl, token_env: 'PLATFORM_IAC_TOKEN' }
  return {
    ...base,
    ...merged('http', { session_url, ...(console_examples && { console_examples }) }),
    ...merged('services', { iac }),
    ...merged('llm', (modelUrl ? scriptedModels(choices, modelUrl) : choices.llm) ?? {}),
    ...merged('paths', { upload_folder: join(folder, 'workspaces'), git_folder: join(folder, 'git') }),
    ...merged('storage', storage),
    ...merged('git', git),
    ...(embedded.collector_url && merged('telemetry', { collector_url: embedded.collector_url, ...COLLECTOR_KEY })),
    ...(embedded.databaseUrl && merged('database', DATABASE_VARIABLES)),
    ...(embedded.cacheUrl && merged('redis', { redis_url_env: 'PLATFORM_REDIS_URL' })),
  }
}

/** Their fields of `database`. The embedded server needs no way past a pooler. */
const DATABASE_VARIABLES = { platform_database_url_env: 'PLATFORM_SQL_DATABASE_URL', platform_direct_url_env: '' }

const OFFERED: readonly ExampleName[] = [
  'generate',
  'blocked',
  'question',
  'drift-preview',
  'partial-drift',
  'full-drift',
  'import-preview',
  'partial-import',
  'full-import',
]

/** Makes the recorded requests for the first screen of the console. */
function consoleExamples(repositories: readonly string[]): ConsoleExample[] {
  return OFFERED.flatMap((name) => {
    const { route, request, sample, iac_path, is_partial, preview = false }: Example = EXAMPLES[name]
    const repo_uri = uriOfSample(repositories, sample)
    if (!repo_uri) return []
    const where = { repo_uri, iac_path: iac_path ?? '', scope_id: SCOPE, engine_providers: 'aws' as const }
    return [{ mode: route, text: request, ...where, is_partial, preview }]
  })
}

/** The path and key of each interface of the scripted model. */
const FORMS: Record<string, { path: string; wire: string; key: string }> = {
  openai: { path: '/v1', wire: 'chat', key: 'OPENAI_API_KEY' },
  anthropic: { path: '/anthropic/v1', wire: 'anthropic', key: 'ANTHROPIC_API_KEY' },
  gemini: { path: '/gemini/v1beta', wire: 'gemini', key: 'GEMINI_API_KEY' },
}
const formOf = (name: string) => {
  const form = FORMS[name.slice(0, name.indexOf('/'))]
  if (!form)
    throw new Error(
      `The scripted model has no form for ${name}; its forms are those of ${Object.keys(FORMS).join(', ')}.`,
    )
  return form
}

function scriptedModels({ scripted }: Choices, url: string): Document {
  const modelList = [...new Set(Object.values(scripted))].map((name) => {
    const { path, wire } = formOf(name)
    return { model_name: name, litellm_params: { model: name, wire, api_base: `${url}${path}`, api_key: 'scripted' } }
  })
  return { ...scripted, web_search_model: '', model_list: modelList }
}

const COLLECTOR_KEY = { api_key_env: 'PLATFORM_COLLECTOR_API_KEY' }
const STORE_KEYS = { region: 'us-east-1', access_key_env: 'BUNDLED_ACCESS_KEY', secret_key_env: 'BUNDLED_SECRET_KEY' }

/** Writes the configuration file of core and worker, and returns its path. */
export async function writeConfiguration(document: Document, folder: string): Promise<string> {
  const path = join(folder, 'platform.yaml')
  await writeAtomically(path, `# Written at each start of the embedded stack.\n${stringify(document)}`)
  return path
}

const SECRET_NAMES = [
  'object_access_key',
  'object_secret_key',
  'cache_token',
  'iac_token',
  'git_token',
  'collector_token',
] as const
export type StackSecrets = Record<(typeof SECRET_NAMES)[number], string>

/**
 * Loads the secrets of a folder, or makes them at its first start. They are kept, because state and sessions outlive a
 * restart. Only the owner can read them.
 */
export async function loadSecrets(folder: string): Promise<StackSecrets> {
  const file = join(folder, 'secrets.json')
  const stored = JSON.parse((await readText(file)) ?? '{}') as Partial<StackSecrets>
  const secrets = Object.fromEntries(
    SECRET_NAMES.map((name) => [name, stored[name] || randomBytes(20).toString('hex')]),
  ) as StackSecrets
  if (SECRET_NAMES.some((name) => !stored[name])) await writeAtomically(file, JSON.stringify(secrets, null, 1))
  return secrets
}

/** Makes the additional variables of the child processes. */
export async function childVariables(
  shell: Record<string, string | undefined>,
  options: { embedded: Embedded; secrets: StackSecrets; configPath: string; folder: string },
): Promise<Record<string, string>> {
  const { embedded, secrets } = options
  const noProxy = [shell.NO_PROXY ?? shell.no_proxy, '127.0.0.1', 'localhost'].filter(Boolean).join(',')
  return {
    PLATFORM_CONFIG: options.configPath,
    PLATFORM_HOST: '127.0.0.1',
    PLATFORM_IAC_TOKEN: secrets.iac_token,
    NO_PROXY: noProxy,
    no_proxy: noProxy,
    ...(embedded.databaseUrl && { PLATFORM_SQL_DATABASE_URL: embedded.databaseUrl }),
    ...(embedded.cacheUrl && { PLATFORM_REDIS_URL: embedded.cacheUrl }),
    ...(embedded.objectStoreUrl && {
      BUNDLED_ACCESS_KEY: secrets.object_access_key,
      BUNDLED_SECRET_KEY: secrets.object_secret_key,
    }),
    ...(embedded.collector_url && { [COLLECTOR_KEY.api_key_env]: secrets.collector_token }),
    ...(embedded.modelUrl && scriptedKeys(shell)),
    ...(embedded.git_host && {
      GIT_USER: GIT_USER,
      GIT_TOKEN: secrets.git_token,
      NODE_EXTRA_CA_CERTS: await joinAuthorities(shell.NODE_EXTRA_CA_CERTS, embedded.git_host, options.folder),
    }),
  }
}

/** Makes keys for the scripted model, because the check at the start requires each provider's variable. */
const scriptedKeys = (shell: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.values(FORMS).flatMap(({ key }) => (shell[key] === undefined ? [[key, 'scripted']] : [])))

export const GIT_USER = 'sample-user'

/** Writes the certificate of the sample host's authority together with those that the shell trusts already. */
async function joinAuthorities(existing: string | undefined, host: GitHost, folder: string): Promise<string> {
  const more = existing ? await readText(existing) : null
  if (more === null) return host.ca_file
  const path = join(folder, 'authorities.pem')
  await writeAtomically(path, `${more.trimEnd()}\n${host.caPem}`, 0o644)
  return path
}
