import * as v from 'valibot'
import type { AwsCredentials } from './types.ts'

const filled = v.pipe(v.string(), v.nonEmpty())
/** The form of container and instance metadata; the token service names the token differently. */
const schema = v.object({
  AccessKeyId: filled,
  SecretAccessKey: filled,
  Token: filled,
  Expiration: v.pipe(
    filled,
    v.check((text) => !Number.isNaN(Date.parse(text))),
  ),
})

/** Null when the answer is no set of temporary credentials. */
export function parseAnswer(answer: unknown): AwsCredentials | null {
  const parsed = v.safeParse(schema, answer)
  if (!parsed.success) return null
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = parsed.output
  return { access_key: AccessKeyId, secret_key: SecretAccessKey, session_token: Token, expires: new Date(Expiration) }
}

export function parseJsonAnswer(text: string): AwsCredentials | null {
  try {
    return parseAnswer(JSON.parse(text))
  } catch {
    return null
  }
}
