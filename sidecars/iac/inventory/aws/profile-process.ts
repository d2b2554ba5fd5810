import * as v from 'valibot'
import type { AwsCredentials } from '../../../../src/aws/credentials.ts'
import { credentialFault } from '../../../../src/aws/credentials.ts'
import { ProgramFault, runProgram } from '../run-program.ts'
import type { InventoryRequest } from '../types.ts'

/** Time limit of a program of `credential_process`, in milliseconds; some ask an identity provider. */
const TIMEOUT_MS = 30_000
const MAX_BYTES = 64 * 1024

const text = v.pipe(v.string(), v.nonEmpty())
const answer = v.object({
  Version: v.literal(1),
  AccessKeyId: text,
  SecretAccessKey: text,
  SessionToken: v.nullish(v.string()),
  Expiration: v.nullish(
    v.pipe(
      text,
      v.check((date) => !Number.isNaN(Date.parse(date))),
    ),
  ),
})

/**
 * Runs the profile's `credential_process`, unlike the vendor's library with a time limit and without the service's own
 * settings. Errors: `CredentialError`, without command and output.
 */
export async function fromProcess(
  { env, signal, now }: Pick<InventoryRequest, 'env' | 'signal' | 'now'>,
  name: string,
  command: string,
  timeoutMs: number = TIMEOUT_MS,
): Promise<AwsCredentials> {
  const what = `the credential_process of profile ${name}`
  const output = await run(command, what, env, signal, timeoutMs)
  const parsed = v.safeParse(answer, parseJson(output))
  if (!parsed.success)
    throw credentialFault(`${what} does not print the JSON of Version 1 with AccessKeyId and SecretAccessKey`)
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = parsed.output
  const expires = Expiration ? new Date(Expiration) : undefined
  if (expires && expires <= now()) throw credentialFault(`${what} prints credentials that have expired`)
  return {
    access_key: AccessKeyId,
    secret_key: SecretAccessKey,
    ...(SessionToken ? { session_token: SessionToken } : {}),
    ...(expires ? { expires } : {}),
  }
}

async function run(
  command: string,
  what: string,
  env: InventoryRequest['env'],
  signal: AbortSignal,
  timeoutMs: number,
): Promise<string> {
  try {
    return await runProgram(command, { env: { ...env }, signal, timeoutMs, maxBytes: MAX_BYTES })
  } catch (error) {
    if (!(error instanceof ProgramFault)) throw error
    throw credentialFault(`${what} ${error.message}; run the command by hand to see why`)
  }
}

function parseJson(output: string): unknown {
  try {
    return JSON.parse(output)
  } catch {
    return null
  }
}
