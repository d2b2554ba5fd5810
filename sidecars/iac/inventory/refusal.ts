const MAX_MESSAGE = 1000
/** Deeper than any cloud nests the error of an answer. */
const MAX_DEPTH = 3
const MESSAGE_KEYS = ['message', 'Message', 'error_description', 'detail', 'errorMessage']
const CODE_KEYS = ['code', 'Code', '__type', 'reason', 'status', 'error']
const WRAPPERS = ['error', 'Error', 'errors', 'details']

/**
 * What the error document of a cloud says, in JSON (`{message}`, `{error: {message}}`, `{error, error_description}`)
 * or XML (`<Message>`): one line of at most 1000 characters, empty when nothing fits.
 */
export function messageOf(text: string): string {
  const message = fromJson(text, textAt(MESSAGE_KEYS), true) ?? fromXml(text, 'Message') ?? plainMessage(text)
  const line = message.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE - 1)}…` : line
}

/**
 * The name of the error, such as `AccessDenied`, without its namespace; empty when there is none. AWS puts it into a
 * header.
 */
export function codeOf(text: string, headers: Headers): string {
  const code =
    headers.get('x-amzn-errortype') ?? fromJson(text, textAt(CODE_KEYS), false) ?? fromXml(text, 'Code') ?? ''
  const name = code.split('#').at(-1)?.split(':')[0] ?? ''
  return /^[A-Za-z0-9_.-]{1,100}$/.test(name) ? name : ''
}

type Find = (document: object) => string | undefined

const textAt =
  (keys: readonly string[]): Find =>
  (document) =>
    keys
      .map((key) => Reflect.get(document, key))
      .find((value): value is string => typeof value === 'string' && value.trim() !== '')

function fromJson(text: string, find: Find, innermost: boolean): string | undefined {
  try {
    return search(JSON.parse(text), find, innermost, 0)
  } catch {
    return undefined
  }
}

/** Of nested errors the inner one has the better message and the outer one the better name. */
function search(value: unknown, find: Find, innermost: boolean, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined
  if (Array.isArray(value)) return search(value[0], find, innermost, depth + 1)
  const own = find(value)
  if (own !== undefined && !innermost) return own
  for (const key of WRAPPERS) {
    const inner: unknown = Reflect.get(value, key)
    const text = typeof inner === 'object' ? search(inner, find, innermost, depth + 1) : undefined
    if (text !== undefined) return text
  }
  return own
}

const fromXml = (text: string, element: string) =>
  new RegExp(`<${element}>([^<]+)</${element}>`).exec(text)?.[1]?.trim()

/** A short text that is neither a page nor a document. */
const plainMessage = (text: string) => (/^\s*[<{[]/.test(text) || text.length > MAX_MESSAGE ? '' : text)
