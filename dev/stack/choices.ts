import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { isJsonObject } from '../../src/base/json.ts'
import { MODEL } from '../scripted-model/start.ts'
import { PROJECT_ROOT } from './data-folder.ts'

type Env = Record<string, string | undefined>
export type Document = Record<string, unknown>

/** The services that belong to the operator. All others are embedded. */
export type Choices = Awaited<ReturnType<typeof readChoices>>

export const SHIPPED_CONFIGURATION = join(PROJECT_ROOT, 'config/platform.yaml')

const set = (env: Env, name: string): string => env[name]?.trim() ?? ''
/** Returns a section of a configuration; empty if there is none of this name. */
export const section = (document: Document, name: string): Document => {
  const value = document[name]
  return isJsonObject(value) ? value : {}
}
const nameIn = (document: Document, field: string, fallback: string): string =>
  typeof document[field] === 'string' && document[field] !== '' ? document[field] : fallback

/** True: every service is embedded, whatever is set. `but the model`: all except the model. */
export type EmbeddedOnly = boolean | 'but the model'

/**
 * Reads the operator's file and variables. Errors: the file of `PLATFORM_CONFIG` cannot be read or is no YAML mapping.
 * @param embedded true embeds every service, whatever is set, except that the scripted model's interface can be chosen
 */
export async function readChoices(env: Env, embedded: EmbeddedOnly) {
  const shipped = await readDocument(SHIPPED_CONFIGURATION)
  const ownPath = set(env, 'PLATFORM_CONFIG')
  const own = ownPath ? await readDocument(ownPath) : null
  const base = own ?? shipped
  const llm = ownModel(env, own)
  const chosen = scriptedNames(llm, own)
  const isOwn = (name: string, field: string, fallback: string) =>
    !embedded && set(env, nameIn(section(base, name), field, fallback)) !== ''
  const storage = embedded ? null : ownStorage(env, own)
  return {
    /** The base of the generated configuration: the operator's file, or the shipped one. */
    base,
    database: isOwn('database', 'platform_database_url_env', 'PLATFORM_SQL_DATABASE_URL'),
    cache: isOwn('redis', 'redis_url_env', 'PLATFORM_REDIS_URL'),
    /** Fields of `storage` for a real bucket. Null means the embedded store. */
    storage,
    /** Fields of `llm` for a real model. Null means the scripted model. */
    llm: embedded === true || chosen ? null : llm,
    /** The model names of the scripted model, which determine its interface. */
    scripted: chosen ?? SCRIPTED,
    git: isOwn('git', 'pat_user_env', 'GIT_USER') && isOwn('git', 'pat_token_env', 'GIT_TOKEN'),
    /** True if the operator's file names a collector and prompt registry or says that there is none. */
    collector: !embedded && section(own ?? {}, 'telemetry').collector_url !== undefined,
    /**
     * True if there are credentials of a real AWS account. Otherwise the sample account is used. With a real store the
     * engine may need the identity of this machine to reach it.
     */
    cloud: !embedded && (storage !== null || hasOwnAccount(env)),
  }
}

/** Names trusted authorities only and no account. */
const CA_BUNDLE = 'AWS_CA_BUNDLE'

/** True if AWS tools would find an account: by one of their variables, or by a file in the home folder. */
function hasOwnAccount(env: Env): boolean {
  const names = Object.keys(env).filter((name) => name.startsWith('AWS_') && name !== CA_BUNDLE)
  if (names.some((name) => set(env, name) !== '')) return true
  const home = set(env, 'HOME')
  return home !== '' && ['credentials', 'config'].some((name) => existsSync(join(home, '.aws', name)))
}

/** Reads a configuration file. Errors: it cannot be read or is no YAML mapping. */
export async function readDocument(path: string): Promise<Document> {
  let value: unknown
  try {
    value = parse(await readFile(path, 'utf8'))
  } catch (error) {
    throw new Error(
      `The configuration file ${path} cannot be used: ` +
        `${error instanceof Error ? error.message.split('\n')[0] : 'unknown error'}`,
    )
  }
  if (value === null || value === undefined) return {}
  if (!isJsonObject(value)) throw new Error(`The configuration file ${path} must hold a mapping.`)
  return value
}

function ownStorage(env: Env, own: Document | null): Document | null {
  const endpointUrl = set(env, 'PLATFORM_STORAGE_ENDPOINT_URL')
  if (endpointUrl) {
    const public_endpoint_url = set(env, 'PLATFORM_STORAGE_PUBLIC_ENDPOINT_URL') || endpointUrl
    const region = set(env, 'PLATFORM_STORAGE_REGION')
    return { provider: 'BUNDLED', endpoint_url: endpointUrl, public_endpoint_url, ...(region && { region }) }
  }
  const { provider, endpoint_url: configured } = section(own ?? {}, 'storage')
  return provider !== undefined || configured !== undefined ? {} : null
}

interface ModelNames {
  model: string
  small_model: string
}
const SCRIPTED: ModelNames = { model: `openai/${MODEL}`, small_model: `openai/${MODEL}` }

/** Returns the model names if the scripted model was chosen; null for another model or none. */
function scriptedNames(chosen: Document | null, own: Document | null): ModelNames | null {
  const { model, small_model = model } = { ...section(own ?? {}, 'llm'), ...chosen }
  const is = (name: unknown): name is string => typeof name === 'string' && name.endsWith(`/${MODEL}`)
  return is(model) && is(small_model) ? { model, small_model } : null
}

/** The models for a provider whose key is set, if no model was chosen. */
const BY_KEY: Record<string, ModelNames> = {
  ANTHROPIC_API_KEY: { model: 'anthropic/claude-sonnet-5', small_model: 'anthropic/claude-haiku-4-5' },
  OPENAI_API_KEY: { model: 'openai/gpt-5.2', small_model: 'openai/gpt-5-mini' },
}

function ownModel(env: Env, own: Document | null): Document | null {
  const model = set(env, 'PLATFORM_LLM_MODEL')
  if (model) return { model, small_model: set(env, 'PLATFORM_LLM_SMALL_MODEL') || model, model_list: [] }
  if (section(own ?? {}, 'llm').model !== undefined) return {}
  const key = Object.keys(BY_KEY).find((name) => set(env, name) !== '')
  return key ? { ...BY_KEY[key], model_list: [] } : null
}

/** The deciding variables, for `--help`. */
export const CHOICE_HELP = `Instead of the embedded service a real one is used when its variables are set:
  PLATFORM_SQL_DATABASE_URL          PostgreSQL
  PLATFORM_REDIS_URL                 redis://, rediss:// or the https:// address of an Upstash database
  PLATFORM_STORAGE_ENDPOINT_URL      S3-compatible store, with BUNDLED_ACCESS_KEY and BUNDLED_SECRET_KEY;
                                     also PLATFORM_STORAGE_PUBLIC_ENDPOINT_URL, PLATFORM_STORAGE_REGION
  ANTHROPIC_API_KEY, OPENAI_API_KEY  model of that provider; PLATFORM_LLM_MODEL (<provider>/<model-id>)
                                     and PLATFORM_LLM_SMALL_MODEL choose another one;
                                     openai/, anthropic/ and gemini/scripted-model are the embedded one,
                                     asked in the form of that provider
  GIT_USER and GIT_TOKEN             the git host of git.provider (default github.com)
  AWS_* or a file in ~/.aws          that AWS account for imports; otherwise a sample account answers
  PLATFORM_CONFIG                    a configuration file: its values lie under the addresses of the
                                     embedded services; with storage.provider or storage.endpoint_url
                                     in it its storage is used, with llm.model its models,
                                     with telemetry.collector_url its collector`
