import type { AwsVariables } from '../../../config/types.ts'
import { cacheCredentials, defaultCredentials } from '../../aws/chain.ts'
import { type CredentialSource, staticCredentials } from '../../aws/credentials.ts'
import { assumeWithKeys, domainOf, signHeaders } from '../../aws/sts.ts'
import { quirksOf } from '../quirks.ts'
import { converseWire } from '../wire/converse.ts'
import type { Authorize } from '../wire/wire-fetch.ts'
import {
  baseUrl,
  type Connection,
  configuredWire,
  connectByWire,
  type ModelEntry,
  quirksOfClaude,
  throwCredentialFailure,
  Unconfigured,
} from './connection.ts'

const DEFAULT_REGION = 'us-west-2'
const REGION = /^[a-z]{2,4}(-[a-z]+)+-\d+$/

/**
 * Connects a model of Amazon Bedrock. All families are called through the Converse API, the only one with tools for
 * each of them. A gateway in front of it uses the configured wire form. Throws `Unconfigured`.
 */
export function connectBedrock(entry: ModelEntry): Connection {
  const gateway = entry.param('api_base') ?? entry.param('base_url')
  const key = entry.param('api_key') ?? entry.variable('AWS_BEARER_TOKEN_BEDROCK')
  const wire = configuredWire(entry)
  if (gateway && wire !== 'converse')
    return connectByWire(entry, wire ?? 'chat', { base_url: baseUrl(gateway), key, quirks: {} })
  const { region, modelId } = regionAndModelId(entry)
  const own = gateway ?? entry.param('aws_bedrock_runtime_endpoint') ?? entry.variable('AWS_BEDROCK_RUNTIME_ENDPOINT')
  const secrets: string[] = key ? [key] : []
  return {
    base_url: own ? baseUrl(own) : `https://bedrock-runtime.${region}.${domainOf(region)}`,
    modelId,
    wire: converseWire,
    authorize: key
      ? async () => ({ authorization: `Bearer ${key}` })
      : createSigner(credentialsOf(entry, region), region, secrets, () => new Date(entry.tools.now())),
    quirks: quirksOf(quirksOfClaude(modelId)),
    secrets,
  }
}

/**
 * Returns the region and the bare model id. The id may be preceded by `converse/` and a region, as in
 * `eu-west-1/anthropic.claude-…`; an ARN names its own region.
 */
function regionAndModelId(entry: ModelEntry): { region: string; modelId: string } {
  const id = entry.modelId.replace(/^(converse|converse_like|invoke)\//, '')
  const [first = '', ...rest] = id.split('/')
  const leading = REGION.test(first) && rest.length > 0
  const arn = /^arn:[^:]*:bedrock:([a-z0-9-]+):/.exec(id)?.[1]
  const region =
    (leading ? first : undefined) ??
    entry.param('aws_region_name') ??
    arn ??
    entry.variable('AWS_REGION_NAME', 'AWS_REGION', 'AWS_DEFAULT_REGION') ??
    DEFAULT_REGION
  if (!REGION.test(region)) throw new Unconfigured('the region is no region')
  return { region, modelId: leading ? rest.join('/') : id }
}

function credentialsOf(entry: ModelEntry, region: string): CredentialSource {
  const { fetch, log, readFile } = entry.tools
  const now = () => new Date(entry.tools.now())
  const purpose = 'the model'
  const [access_key, secret_key] = [entry.param('aws_access_key_id'), entry.param('aws_secret_access_key')]
  const entryKeys =
    access_key && secret_key ? { access_key, secret_key, session_token: entry.param('aws_session_token') } : null
  const base = entryKeys
    ? staticCredentials(entryKeys)
    : defaultCredentials({ aws: chainVariables(entry), purpose, region, fetch, log, readFile, now })
  const arn = entry.param('aws_role_name') ?? entry.variable('AWS_ROLE_NAME')
  if (!arn) return base
  const role = { arn, session_name: entry.param('aws_session_name') ?? '' }
  return cacheCredentials(async () => assumeWithKeys({ fetch, region, now }, role, await base()), { now, log, purpose })
}

/** Returns the variables of the credential chain. A profile of the entry overrides keys in the environment. */
function chainVariables({ config: { aws }, param }: ModelEntry): AwsVariables {
  if (!aws) throw new Unconfigured('no AWS credentials are set up')
  const profile = param('aws_profile_name')
  return profile ? { ...aws, profile, access_key: '', secret_key: '', web_identity_token_file: '' } : aws
}

/** Makes the signer of requests. `secrets` is updated with the current keys, so that they are masked in error texts. */
function createSigner(credentials: CredentialSource, region: string, secrets: string[], now: () => Date): Authorize {
  return async ({ url, body }) => {
    const keys = await credentials().catch(throwCredentialFailure)
    const { access_key, secret_key, session_token } = keys
    secrets.splice(0, secrets.length, secret_key, access_key, ...(session_token ? [session_token] : []))
    const headers = { 'content-type': 'application/json' }
    return signHeaders({ url, headers, body, service: 'bedrock', region, now: now() }, keys)
  }
}
