import { exec } from 'node:child_process'
import * as v from 'valibot'
import type { AwsCredentials } from '../../../../src/base/aws/credentials.ts'
import { credentialFault } from '../../../../src/base/aws/credentials.ts'
import type { InventoryRequest } from '../types.ts'

/** Milliseconds that a program of `credential_process` may take; some ask an identity provider. */
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
 * Runs the program that a profile names in `credential_process`. The command is the operator's: it stands in the shared
 * files of the service. The vendor's library is not used here, because it sets no time limit, hands on the environment
 * of the process with the service's own settings, and puts the command and its output into errors.
 * @param name of the profile, for errors
 * Errors: `CredentialError`, which shows nothing of the command and its output.
 */
export async function fromProcess(
  { env, signal, now }: Pick<InventoryRequest, 'env' | 'signal' | 'now'>,
  name: string,
  command: string,
  timeoutMs: number = TIMEOUT_MS,
): Promise<AwsCredentials> {
  const what = `the credential_process of profile ${name}`
  const output = await runProgram(command, what, env, signal, timeoutMs)
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

function runProgram(
  command: string,
  what: string,
  env: InventoryRequest['env'],
  signal: AbortSignal,
  timeoutMs: number,
): Promise<string> {
  const options = {
    env: { ...env },
    signal,
    timeout: timeoutMs,
    killSignal: 'SIGKILL' as const,
    maxBuffer: MAX_BYTES,
    windowsHide: true,
  }
  return new Promise((resolve, reject) => {
    const child = exec(command, options, (error, stdout) => {
      if (error === null) return resolve(stdout)
      if (error.killed) return reject(credentialFault(`${what} gave no answer within ${timeoutMs / 1000} s`))
      const code = typeof error.code === 'number' ? ` with exit code ${error.code}` : ''
      reject(credentialFault(`${what} failed${code}; run the command by hand to see why`))
    })
    child.stdin?.end()
  })
}

function parseJson(output: string): unknown {
  try {
    return JSON.parse(output)
  } catch {
    return null
  }
}
