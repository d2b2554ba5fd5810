import { readAws } from '../../../../config/sections/aws.ts'
import { defaultCredentials } from '../../../../src/aws/chain.ts'
import { CredentialError, type CredentialSource } from '../../../../src/aws/credentials.ts'
import { domainOf, signHeaders } from '../../../../src/aws/sts.ts'
import { ask, askJson, type Question } from '../http.ts'
import { type Env, InventoryError, type InventoryRequest, isOn, readFileIfAny, setting } from '../request.ts'
import { fromProcess, fromSingleSignOn } from './profiles.ts'

/** Reports whether a text names a region, so that it can become part of a host name. */
export const isRegion = (text: string): boolean => /^[a-z]{2,5}(-[a-z0-9]+){2,4}$/.test(text)

export function awsRegion({ env }: InventoryRequest): string {
  const region = setting(env, 'AWS_REGION', 'AWS_DEFAULT_REGION')
  if (region === undefined) throw new InventoryError('AWS_REGION is not set')
  if (!isRegion(region)) throw new InventoryError('AWS_REGION does not name a region')
  return region
}

export type AwsClient = ReturnType<typeof createAwsClient>

/** Creates calls signed with the credentials of the vendor's default chain. Errors of all: `InventoryError`. */
export function createAwsClient(request: InventoryRequest) {
  const region = awsRegion(request)
  const stsUrl = stsAddress(request, region)
  const credentials = awsCredentials(request, region)
  /** Signs each attempt, because a signature is valid for minutes only. */
  const post = (source: string, call: Omit<Parameters<typeof signHeaders>[0], 'now'>): Question => ({
    source,
    url: call.url,
    method: 'POST',
    headers: async () => signHeaders({ ...call, now: request.now() }, await credentials()),
    body: call.body,
    request,
  })
  return {
    /** The configured region. */
    region,
    /** Returns the number of the account that the credentials belong to. */
    account: async () => {
      const body = 'Action=GetCallerIdentity&Version=2011-06-15'
      const response = await ask(post('AWS STS', { service: 'sts', region, url: stsUrl, body, headers: FORM }))
      const account = /<Account>\s*(\d{12})\s*<\/Account>/.exec(response.text())?.[1]
      if (account === undefined)
        throw new InventoryError(`${response.status} from AWS STS: the answer names no account`)
      return account
    },
    /** Runs one operation of Resource Explorer in a region; returns its JSON document. */
    explore: (there: string, operation: string, document: object): Promise<unknown> => {
      const url = `${endpointOf('resource-explorer-2', there, request.env)}/${operation}`
      const body = JSON.stringify(document)
      const headers = { 'content-type': 'application/json' }
      const call = { service: 'resource-explorer-2', region: there, url, body, headers }
      return askJson(post('AWS Resource Explorer', call))
    },
  }
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }

const stsAddress = ({ env }: InventoryRequest, region: string) => `${endpointOf('sts', region, env)}/`

/** Returns the credentials of the vendor's default chain. Errors: `InventoryError`. */
export function awsCredentials(request: InventoryRequest, region: string): CredentialSource {
  const { env, fetch, signal, now, log } = request
  const aws = readAws({ variable: (name) => env[name]?.trim() ?? '' })
  const credentials = defaultCredentials({
    aws,
    purpose: 'the inventory',
    region,
    stsUrl: stsAddress(request, region),
    fetch,
    readFile: readFileIfAny,
    now,
    log,
    delegates: {
      process: (profile, command) => fromProcess(request, profile, command),
      singleSignOn: (profile) => fromSingleSignOn(aws, profile, fetch, signal),
    },
  })
  return () =>
    credentials().catch((error: unknown) => {
      if (!(error instanceof CredentialError)) throw error
      throw new InventoryError(`no AWS credentials for scope discovery: ${error.message}`, { cause: error })
    })
}

/**
 * Returns the base URL of a service: `AWS_ENDPOINT_URL_<SERVICE>`, else `AWS_ENDPOINT_URL` (both unless
 * `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS`), else the address of the region. Errors: `InventoryError` for no http(s) URL.
 */
function endpointOf(service: 'sts' | 'resource-explorer-2', region: string, env: Env): string {
  const own = service === 'sts' ? 'AWS_ENDPOINT_URL_STS' : 'AWS_ENDPOINT_URL_RESOURCE_EXPLORER_2'
  for (const name of isOn(env, 'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS') ? [] : [own, 'AWS_ENDPOINT_URL']) {
    const override = setting(env, name)
    if (override === undefined) continue
    // Plain http is allowed, as by the vendor: a signed request does not hold the secret key.
    if (!/^https?:$/.test(URL.parse(override)?.protocol ?? ''))
      throw new InventoryError(`${name} is not an http or https address`)
    return override.replace(/\/+$/, '')
  }
  return `https://${service}${isOn(env, 'AWS_USE_FIPS_ENDPOINT') ? '-fips' : ''}.${region}.${domainOf(region)}`
}
