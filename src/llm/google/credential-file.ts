import * as v from 'valibot'

const filled = v.pipe(v.string(), v.nonEmpty())
const serviceAccount = v.object({
  type: v.literal('service_account'),
  client_email: filled,
  private_key: filled,
  private_key_id: v.optional(v.string()),
  token_uri: v.optional(v.string(), 'https://oauth2.googleapis.com/token'),
})
const authorizedUser = v.object({
  type: v.literal('authorized_user'),
  client_id: filled,
  client_secret: filled,
  refresh_token: filled,
  token_uri: v.optional(v.string(), 'https://oauth2.googleapis.com/token'),
})

export type CredentialFile = v.InferOutput<typeof serviceAccount> | v.InferOutput<typeof authorizedUser>

/**
 * Credentials of a service account or of a person. Errors: text that begins in lower case and repeats nothing
 * of the file.
 * @param what how errors name the file
 */
export function parseCredentialFile(text: string, what: string): CredentialFile {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`${what} is not JSON`)
  }
  const parsed = v.safeParse(v.variant('type', [serviceAccount, authorizedUser]), value)
  if (parsed.success) return parsed.output
  const type =
    typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' ? value.type : ''
  const known = type === 'service_account' || type === 'authorized_user'
  throw new Error(
    known
      ? `${what} lacks a field`
      : `${what} is of a type that is not supported (supported: service_account, authorized_user)`,
  )
}
