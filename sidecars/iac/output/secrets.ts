import { decodeOrKeep } from '../../../config/mask-url.ts'
import { parseJson } from '../../../src/base/json.ts'
import { escapedForms, urlForms } from '../../../src/base/text.ts'
import { readStateSecrets } from '../limits/workspace.ts'

const NAME = /SECRET|TOKEN|PASSW|CREDENTIAL|_KEY(_ID|_DATA)?$/i
/** Names of variables that hold a secret even if it begins like a path, as a base64 key of AWS may. */
const LITERAL = /SECRET|TOKEN|PASSW/i
const NAMES_A_FILE = /_(FILE|PATH|DIR|DIRECTORY)$/i
/** Minimum length; shorter values would match in ordinary words. */
const MIN_LENGTH = 8

/**
 * Returns the secrets of an environment: values of variables with such names, passwords of addresses and connection
 * strings in any variable, and nested ones, such as the key inside a JSON document.
 */
export function credentialsOf(env: Record<string, string | undefined>): string[] {
  const values = Object.entries(env).flatMap(([name, value = '']) => [
    ...(isSecret(name, value) ? [value, ...nestedSecrets(value)] : []),
    ...passwordsOf(value),
  ])
  return [...new Set(values)].sort((a, b) => b.length - a.length)
}

const isSecret = (name: string, value: string): boolean =>
  NAME.test(name) &&
  !NAMES_A_FILE.test(name) &&
  value.length >= MIN_LENGTH &&
  (LITERAL.test(name) || !value.startsWith('/'))

const NESTED = /secret|token|passw|private_?key|credential/i
const MAX_DEPTH = 8

/** Returns the secrets inside a JSON document, such as the private key of a service account. */
const nestedSecrets = (text: string): string[] =>
  /^\s*[[{]/.test(text) ? [...nestedStrings(parseJson(text), '', 0)] : []

function* nestedStrings(value: unknown, name: string, depth: number): Generator<string> {
  if (depth > MAX_DEPTH) return
  if (typeof value === 'string') {
    if (NESTED.test(name) && value.length >= MIN_LENGTH && !/^https?:\/\//.test(value)) yield value
  } else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value))
      yield* nestedStrings(inner, Array.isArray(value) ? name : key, depth + 1)
}

const URL_LOGIN = /[a-z][a-z0-9+.-]{0,30}:\/\/([^/?#\s]*)@/gi
const WORD_PASSWORD =
  /(?:^|[\s;&?,])(?:password|passwd|pwd|accountkey|sharedaccesskey|sig|access_token|token)\s*=\s*'?([^\s;&']+)/gi
/** Length from which a user name is a token: repository hosts accept one in that place. */
const TOKEN_LENGTH = 20

/** Returns the passwords in addresses and connection strings, raw and decoded; short ones with their context. */
function passwordsOf(text: string): string[] {
  const found: string[] = []
  for (const [whole, login = ''] of text.matchAll(URL_LOGIN)) {
    const colon = login.indexOf(':')
    const password = colon < 0 ? '' : login.slice(colon + 1)
    if (password !== '')
      for (const form of [password, decodeOrKeep(password)]) found.push(form.length >= MIN_LENGTH ? form : whole)
    else if (login.length >= TOKEN_LENGTH) found.push(login.replace(/:$/, ''))
  }
  for (const [, password = ''] of text.matchAll(WORD_PASSWORD))
    for (const form of [password, decodeOrKeep(password)]) if (form.length >= MIN_LENGTH) found.push(form)
  return found
}

/** A line `name: value`, which marks a document, most of which is no secret. */
const DOCUMENT = /^\s*(?:[[{]|[\w-]+:\s)/
/** A likely key inside a document: long, or made of letters and digits of all kinds. */
const KEY = /[A-Za-z0-9+/=_-]{16,}/g
const MIXED = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])|^.{32,}$/

/**
 * Returns every form of a secret in the output of an engine: plain, escaped as in JSON and in the engine's language,
 * URL-encoded, base64, hexadecimal; also its lines, because an engine indents them.
 */
export function formsOf(secret: string): Set<Buffer> {
  const forms = new Set<string>()
  for (const text of [secret, ...linesOf(secret)])
    for (const form of [...textForms(text), ...base64Forms(Buffer.from(text, 'utf8'))]) forms.add(form)
  for (const bytes of [Buffer.from(secret, 'utf16le'), Buffer.from(secret, 'utf16le').swap16()])
    for (const form of base64Forms(bytes)) forms.add(form)
  return new Set([...forms].filter((form) => form.length >= MIN_LENGTH).map((form) => Buffer.from(form, 'utf8')))
}

function linesOf(secret: string): string[] {
  if (!secret.includes('\n')) return []
  const lines = DOCUMENT.test(secret)
    ? [...secret.matchAll(KEY)].map(([key]) => key).filter((key) => MIXED.test(key))
    : secret.split(/\r?\n/).map((line) => line.trim())
  return lines.filter((line) => line.length >= MIN_LENGTH && !line.startsWith('-----'))
}

function textForms(text: string): string[] {
  const hex = Buffer.from(text, 'utf8').toString('hex')
  return [...escapedForms(text), ...urlForms(text), hex, hex.toUpperCase()]
}

/** Returns the fixed characters of a secret in base64, for each of its three possible positions in a group. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const from = Math.ceil((before * 8) / 6)
    const known = encoded.slice(from, Math.floor(((before + bytes.length) * 8) / 6))
    return [known, known.replaceAll('+', '-').replaceAll('/', '_'), known.replaceAll('/', '\\/')]
  })
}

export type JobSecrets = ReturnType<typeof createJobSecrets>

/** Creates the secrets to hide in the output of jobs: those of the service's environment and of the state store. */
export function createJobSecrets(ofService: readonly string[], overrideName: string) {
  const running = new Map<string, readonly string[]>()
  return {
    /** The secrets of the service alone, for a job that has no workspace. */
    ofService,
    /** Reads those of a job that begins, adds `ofJob`, and remembers all until `close`. */
    async open(jobId: string, workspace: string, ofJob: readonly string[] = []): Promise<readonly string[]> {
      const keys = [...ofJob, ...(await readStateSecrets(workspace, overrideName))]
      const secrets = keys.length === 0 ? ofService : [...ofService, ...keys]
      running.set(jobId, secrets)
      return secrets
    },
    /** Returns those of a running job; those of the service for any other, whose output is masked already. */
    of: (jobId: string): readonly string[] => running.get(jobId) ?? ofService,
    close: (jobId: string): boolean => running.delete(jobId),
  }
}
