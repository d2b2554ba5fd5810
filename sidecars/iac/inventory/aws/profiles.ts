import { Readable } from 'node:stream'
import * as v from 'valibot'
import { type AwsCredentials, credentialFault } from '../../../../src/aws/credentials.ts'
import { type Fetch, OutboundError, send } from '../../../../src/base/http.ts'
import type { InventoryRequest } from '../request.ts'
import { runForJson } from '../run-program.ts'

const text = v.pipe(v.string(), v.nonEmpty())
const date = v.pipe(
  text,
  v.transform((words) => new Date(words)),
  v.date(),
)
const answer = v.object({
  Version: v.literal(1),
  AccessKeyId: text,
  SecretAccessKey: text,
  SessionToken: v.nullish(v.string()),
  Expiration: v.nullish(date),
})

/**
 * Runs the profile's `credential_process`, unlike the vendor's library with a time limit and without the service's own
 * settings. Errors: `CredentialError`, without command and output.
 */
export async function fromProcess(
  { env, signal, now }: Pick<InventoryRequest, 'env' | 'signal' | 'now'>,
  name: string,
  command: string,
  /** Some programs ask an identity provider. */
  timeoutMs = 30_000,
): Promise<AwsCredentials> {
  const what = `the credential_process of profile ${name}`
  const limits = { env, signal, timeoutMs, maxOutput: 64 * 1024 }
  const printed = await runForJson(command, limits, ({ message }) =>
    credentialFault(`${what} ${message}; run the command by hand to see why`),
  )
  const parsed = v.safeParse(answer, printed)
  if (!parsed.success)
    throw credentialFault(`${what} does not print the JSON of Version 1 with AccessKeyId and SecretAccessKey`)
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = parsed.output
  if (Expiration && Expiration <= now()) throw credentialFault(`${what} prints credentials that have expired`)
  return {
    access_key: AccessKeyId,
    secret_key: SecretAccessKey,
    ...(SessionToken ? { session_token: SessionToken } : {}),
    ...(Expiration ? { expires: Expiration } : {}),
  }
}

/** Hosts that may be asked. Region and start address come from a file, so only the vendor's own are allowed. */
const HOSTS = /^(portal\.sso|oidc)\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$/

/** Returns a profile's credentials from `aws sso login`. Errors: `CredentialError`, without the library's text. */
export async function fromSingleSignOn(
  { credentials_file, config_file }: { credentials_file: string; config_file: string },
  profile: string,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<AwsCredentials> {
  const { fromSSO } = await import('@aws-sdk/credential-provider-sso')
  const failures: unknown[] = []
  const requestHandler = createHandler(fetch, signal, failures)
  try {
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await fromSSO({
      profile,
      filepath: credentials_file,
      configFilepath: config_file,
      ignoreCache: true,
      clientConfig: { requestHandler, maxAttempts: 2 },
    })()
    return {
      access_key: accessKeyId,
      secret_key: secretAccessKey,
      ...(sessionToken ? { session_token: sessionToken } : {}),
      ...(expiration ? { expires: expiration } : {}),
    }
  } catch (error) {
    const outbound = failures.at(-1)
    const reason =
      outbound instanceof OutboundError
        ? `AWS SSO does not answer (${outbound.message})`
        : `run \`aws sso login --profile ${profile}\` as the user of this service and check its sso_ settings`
    throw credentialFault(`profile ${profile} has no valid session of single sign-on: ${reason}`, outbound ?? error)
  }
}

/** The part of the library's request that is sent. */
interface Outgoing {
  protocol: string
  hostname: string
  path: string
  method: string
  headers: Record<string, string>
  query?: Record<string, string | string[] | null>
  body?: unknown
}

/** Sends the library's requests with the fetch of the service, within its time limit. */
function createHandler(fetch: Fetch, signal: AbortSignal, failures: unknown[]) {
  const exchange = async ({ hostname, protocol, path, method, headers, query, body }: Outgoing) => {
    if (protocol !== 'https:' || !HOSTS.test(hostname)) throw new Error('not a host of AWS SSO')
    const url = new URL(`https://${hostname}${path}`)
    for (const [key, value] of Object.entries(query ?? {}))
      for (const item of [value ?? ''].flat()) url.searchParams.append(key, item)
    const sent = Object.entries(headers).filter(([name]) => !/^(host|content-length)$/i.test(name))
    const response = await send(fetch, {
      url,
      method,
      headers: Object.fromEntries(sent),
      body: typeof body === 'string' && body !== '' ? body : null,
      timeoutMs: 10_000,
      signal,
    })
    return {
      response: {
        statusCode: response.status,
        headers: Object.fromEntries(response.headers),
        body: Readable.from([Buffer.from(response.text())]),
      },
    }
  }
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    handle: (request: Outgoing) =>
      exchange(request).catch((error: unknown) => {
        failures.push(error)
        throw error
      }),
  }
}
