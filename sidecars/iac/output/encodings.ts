import { MIN_LENGTH } from './secrets.ts'

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
  for (const text of [secret, ...linesOf(secret)]) {
    for (const form of textForms(text)) forms.add(form)
    for (const form of base64Forms(Buffer.from(text, 'utf8'))) forms.add(form)
  }
  for (const form of base64Forms(Buffer.from(secret, 'utf16le'))) forms.add(form)
  for (const form of base64Forms(Buffer.from(secret, 'utf16le').swap16())) forms.add(form)
  return new Set([...forms].filter((form) => form.length >= MIN_LENGTH).map((form) => Buffer.from(form, 'utf8')))
}

function linesOf(secret: string): string[] {
  if (!secret.includes('\n')) return []
  const lines = DOCUMENT.test(secret)
    ? [...secret.matchAll(KEY)].map(([key]) => key).filter((key) => MIXED.test(key))
    : secret.split(/\r?\n/).map((line) => line.trim())
  return lines.filter((line) => line.length >= MIN_LENGTH && !line.startsWith('-----'))
}

/** Depth of nested documents, each of which escapes the one inside it. */
const LEVELS = 3

function textForms(text: string): string[] {
  const json = jsonOf(text)
  const escaped = new Set([json, json.replace(/[$%](?=\{)/g, '$&$&'), json.replace(/[\u007f-\uffff]/g, hexEscape)])
  let level = [text, ...escaped]
  for (let depth = 0; depth < LEVELS; depth++) {
    // The engine escapes the characters of HTML as well, other writers do not.
    level = [...new Set(level.map(jsonOf).flatMap((form) => [form, form.replace(/[<>&]/g, hexEscape)]))]
    for (const form of level) escaped.add(form)
  }
  const url = encodeURIComponent(text)
  const strict = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  const urls = [url, strict, strict.replaceAll('%20', '+'), encodeURI(text)]
  const hex = Buffer.from(text, 'utf8').toString('hex')
  return [
    text,
    text.replaceAll('\n', '\r\n'),
    ...escaped,
    json.replaceAll('/', '\\/'),
    ...urls,
    ...urls.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())),
    hex,
    hex.toUpperCase(),
  ]
}

const jsonOf = (text: string): string => JSON.stringify(text).slice(1, -1)

const hexEscape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

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
