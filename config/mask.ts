import { maskUrl, secretsInUrl } from './mask-url.ts'
import type { Config } from './types.ts'

/** Keys of the configuration whose values are secrets, wherever they occur. */
export const SECRET_FIELDS: readonly string[] = [
  'token',
  'access_key',
  'secret_key',
  'session_token',
  'container_token',
  'account_key',
  'api_key',
  'pin_key',
]
/** Names of secrets in entries of `llm.model_list`, which may have arbitrary keys. */
const SECRET_NAME = /key|token|secret|password|credential|authorization|cookie/i
/** Endings of provider variables that hold addresses and names. All other variables count as secrets. */
const PLAIN_ENDINGS = [
  '_BASE',
  '_BASE_URL',
  '_ENDPOINT',
  '_VERSION',
  '_PROJECT',
  '_LOCATION',
  '_REGION',
  '_REGION_NAME',
  '_PROFILE',
  '_ORGANIZATION',
  '_ROLE_ARN',
  '_ROLE_NAME',
]
const REFERENCE = /^os\.environ\//

/** Returns the configuration with secrets masked: `***` for a secret that is set, empty otherwise. */
export function maskedConfig(config: Config): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, maskValue(value, [key])]))
}

function maskValue(value: unknown, path: readonly string[]): unknown {
  if (typeof value === 'string') {
    if (!isSecret(path, value)) return maskUrl(value)
    return value === '' ? '' : '***'
  }
  if (Array.isArray(value)) return value.map((item, index) => maskValue(item, [...path, String(index)]))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskValue(inner, [...path, key])]))
}

function isSecret(path: readonly string[], value: string): boolean {
  const key = path.at(-1) ?? ''
  if (path[1] === 'credentials') return !PLAIN_ENDINGS.some((ending) => key.endsWith(ending))
  if (path[1] === 'model_list') return path.slice(3).some((name) => SECRET_NAME.test(name)) && !REFERENCE.test(value)
  return SECRET_FIELDS.includes(key)
}

/** Returns every non-empty secret of the configuration once, so that the log can mask them. */
export function secretsOf(config: Config): string[] {
  const secrets = new Set<string>()
  const collect = (value: unknown, path: readonly string[]) => {
    if (typeof value === 'string')
      for (const secret of isSecret(path, value) ? [value] : secretsInUrl(value)) secrets.add(secret)
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) collect(inner, [...path, key])
  }
  collect(config, [])
  secrets.delete('')
  return [...secrets]
}

/** Returns the secrets that are masked in texts: those of at least 12 characters, as shorter ones may be ordinary words. */
export const maskedSecretsOf = (config: Config): string[] => secretsOf(config).filter(({ length }) => length >= 12)
