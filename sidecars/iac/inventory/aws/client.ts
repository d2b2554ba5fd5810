import { AwsV4Signer } from 'aws4fetch'
import { readAws } from '../../../../config/sections/aws.ts'
import { defaultCredentials } from '../../../../src/aws/chain.ts'
import { CredentialError, type CredentialSource } from '../../../../src/aws/credentials.ts'
import { ask, askJson } from '../http.ts'
import { readFileIfAny, setting } from '../inputs.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import { endpointOf } from './endpoints.ts'
import { fromProcess } from './profile-process.ts'
import { fromSingleSignOn } from './profile-sso.ts'

/** Calls that are signed with the credentials of the vendor's default chain. Errors of all: `InventoryError`. */
export interface AwsClient {
  /** The configured one. */
  region: string
  /** Number of the account that the credentials belong to. */
  account(): Promise<string>
  /** One operation of Resource Explorer in a region; answers its JSON document. */
  explore(region: string, operation: string, body: object): Promise<unknown>
}

/** Whether a text names a region, so that it can become part of a host name. */
export const isRegion = (text: string): boolean => /^[a-z]{2,5}(-[a-z0-9]+){2,4}$/.test(text)

/** The configured region. */
export function awsRegion({ env }: InventoryRequest): string {
  const region = setting(env, 'AWS_REGION', 'AWS_DEFAULT_REGION')
  if (region === undefined) throw new InventoryError('AWS_REGION is not set')
  if (!isRegion(region)) throw new InventoryError('AWS_REGION does not name a region')
  return region
}

export function createAwsClient(request: InventoryRequest): AwsClient {
  const region = awsRegion(request)
  const stsUrl = stsAddress(request, region)
  const sign = createSigner(request, awsCredentials(request, region))
  return {
    region,
    account: async () => {
      const call = {
        service: 'sts',
        region,
        url: stsUrl,
        body: 'Action=GetCallerIdentity&Version=2011-06-15',
        type: FORM,
      }
      const response = await ask({
        source: 'AWS STS',
        url: stsUrl,
        method: 'POST',
        headers: () => sign(call),
        body: call.body,
        request,
      })
      const account = /<Account>\s*(\d{12})\s*<\/Account>/.exec(response.text())?.[1]
      if (account === undefined)
        throw new InventoryError(`${response.status} from AWS STS: the answer names no account`)
      return account
    },
    explore: (there, operation, document) => {
      const url = `${endpointOf('explorer', there, request.env)}/${operation}`
      const call = {
        service: 'resource-explorer-2',
        region: there,
        url,
        body: JSON.stringify(document),
        type: 'application/json',
      }
      return askJson({
        source: 'AWS Resource Explorer',
        url,
        method: 'POST',
        headers: () => sign(call),
        body: call.body,
        request,
      })
    },
  }
}

const FORM = 'application/x-www-form-urlencoded; charset=utf-8'

const stsAddress = ({ env }: InventoryRequest, region: string) => `${endpointOf('sts', region, env)}/`

/** The credentials of the vendor's default chain. Errors: `InventoryError`. */
export function awsCredentials(request: InventoryRequest, region: string): CredentialSource {
  const credentials = credentialChain(request, region)
  return () =>
    credentials().catch((error: unknown) => {
      if (!(error instanceof CredentialError)) throw error
      throw new InventoryError(`no AWS credentials for scope discovery: ${error.message}`, { cause: error })
    })
}

function credentialChain(request: InventoryRequest, region: string): CredentialSource {
  const { env, fetch, signal, now, log } = request
  const aws = readAws({ variable: (name) => env[name]?.trim() ?? '' })
  return defaultCredentials({
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
}

interface Call {
  service: string
  region: string
  url: string
  body: string
  type: string
}

/** Makes the headers of a POST with its signature. That is valid for minutes only, so each attempt gets its own. */
function createSigner(
  { now }: InventoryRequest,
  credentials: CredentialSource,
): (call: Call) => Promise<Record<string, string>> {
  return async ({ type, ...call }) => {
    const { access_key, secret_key, session_token } = await credentials()
    const keys = { accessKeyId: access_key, secretAccessKey: secret_key, sessionToken: session_token }
    const datetime = now()
      .toISOString()
      .replaceAll(/[:-]|\.\d{3}/g, '')
    const signed = await new AwsV4Signer({
      ...call,
      ...keys,
      method: 'POST',
      headers: { 'content-type': type },
      datetime,
    }).sign()
    return Object.fromEntries(signed.headers)
  }
}
