import { isLiteralSecret, isRequestToken, tokenPlacesIn, urlPasswordPlacesIn } from './secret-forms.ts'

/** Stands for a secret that a user typed. */
export const MASKED_SECRET = '(masked secret)'

type Place = readonly [start: number, end: number]

/**
 * Replaces what looks like a secret in a text of a user by `MASKED_SECRET`: known forms of tokens, passwords in URLs,
 * and what a word like `password` or `api_key` announces. Names, addresses, UUIDs, digests and references stay. Takes
 * linear time.
 */
export function maskSecrets(text: string): string {
  const places = [...keyPlacesIn(text), ...urlPasswordPlacesIn(text), ...announcedPlacesIn(text)]
  const pieces: string[] = []
  let shown = 0
  for (const [start, end] of places.sort(([a], [b]) => a - b)) {
    if (start >= shown) pieces.push(text.slice(shown, start), MASKED_SECRET)
    shown = Math.max(shown, end)
  }
  return [...pieces, text.slice(shown)].join('')
}

/** A whole key, also one whose end is missing. */
const KEY_BLOCK =
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----)[\s\S])*(?:-----END [A-Z ]{0,40}-----)?/g
/** The second half of an AWS access key, which nothing announces. */
const AWS_SECRET =
  /(?<![\w/+=.-])(?=[^a-z\n]{0,39}[a-z])(?=[^A-Z\n]{0,39}[A-Z])(?=\D{0,39}\d)[A-Za-z0-9/+]{40}(?![\w/+=.-])/g
const AWS_KEY = /(?:AKIA|ASIA)[A-Z0-9]{16}/

const keyPlacesIn = (text: string): Place[] => [
  ...placesOf(text, KEY_BLOCK),
  ...tokenPlacesIn(text),
  ...(AWS_KEY.test(text) ? placesOf(text, AWS_SECRET) : []),
]

const placesOf = (text: string, pattern: RegExp): Place[] =>
  [...text.matchAll(pattern)].map(({ index, 0: { length } }) => [index, index + length])

const PASSWORD =
  'passwords?|passwd|passphrase|pass_phrase|pwd|(?<=[_-])pass|passwort|kennwort|contraseña|contrasena|mot de passe' +
  '|senha|wachtwoord|lösenord|hasło|пароль|密码|パスワード'
const TOKEN =
  '(?:secret[_ -]?)?access[_ -]?key|(?:api|private|secret|account|shared|signing|auth)[_ -]?key|token' +
  '|(?:client|webhook)[_ -]?secret|secret[_ -]?string|secret|credentials?|connection[_ -]?string'
/** What may stand between such a word and the secret. A mark leaves less doubt than a word or a blank. */
const ANNOUNCED = new RegExp(
  `(?<![:/])(?<name>[\\w.-]{0,60}?(?:(?<password>${PASSWORD})|${TOKEN}))(?![\\p{L}\\p{N}_])["'\`\\]]{0,2}` +
    '(?<link>\\s{0,3}(?:=>|:=|=|:|：|->|→)\\s{0,3}|\\s{1,3}(?:is|are|ist|lautet|es|est|é|är|to|of|zu|auf|a|à|on)\\s{1,3}:?\\s{0,2}|[ \\t]{1,3})' +
    '(?:"(?<double>[^"\\n]{1,500})"|\'(?<single>[^\'\\n]{1,500})\'|`(?<back>[^`\\n]{1,500})`|„(?<low>[^“”\\n]{1,500})[“”]|“(?<curly>[^”\\n]{1,500})”|' +
    '(?<bare>[^\\s"\'`(<\\[{„“,;][^\\s"\'`,;]{0,500}))',
  'giu',
)

function announcedPlacesIn(text: string): Place[] {
  const places: Place[] = []
  for (const { index, 0: match, groups = {} } of text.matchAll(ANNOUNCED)) {
    const { double, single, back, low, curly, bare = '' } = groups
    const quoted = double ?? single ?? back ?? low ?? curly
    // A full stop or bracket after the value belongs to the sentence.
    const value = quoted ?? bare.replace(/[.!?)\]}:]+$/, (end) => (/^[!?]+$/.test(end) ? end : ''))
    const end = index + match.length - (quoted === undefined ? bare.length - value.length : 1)
    const link = kindOf(groups.link ?? '')
    const rest = text.slice(end, end + 2)
    const announced = { value, link, quoted: quoted !== undefined, ends: /^($|[.,;!)\r\n]|[.!?]?["'])/.test(rest) }
    if (isRequestToken(groups.name ?? '')) continue
    if (groups.password === undefined ? isAnnouncedToken(announced) : isAnnouncedPassword(announced))
      places.push([end - value.length, end])
  }
  return places
}

type Link = 'mark' | 'verb' | 'word' | 'blank'
interface Announced {
  value: string
  link: Link
  quoted: boolean
  /** True if a clause or line ends after the value. */
  ends: boolean
}

function kindOf(link: string): Link {
  if (/[=:：>→]/.test(link)) return 'mark'
  if (link.trim() === '') return 'blank'
  return /^\s*(is|ist|lautet|es|est|é|är)\s/i.test(link) ? 'verb' : 'word'
}

/** References to values elsewhere in the engine's language, and addresses. */
const REFERENCE =
  /^(var|local|module|data|each|self|path|[a-z][a-z0-9]*_[a-z0-9_]+)\.[\w.[\]"*-]+$|^\$|:\/\/|^\*+$|^[x.…_-]+$/i
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Names of methods, and words that say something about a secret. */
const ABOUT =
  /^(scram-sha-\d+|sha-?\d+|md5|bcrypt|scrypt|argon2\w*|pbkdf2\w*|aes-?\d+\w*|rsa-?\d*|must|should|with|from|same|weak|strong|random|secret|sensitive|none|empty|optional|public|unknown|plain|plaintext|default|there|here|not|visible|valid|invalid|correct|wrong|null|true|false|string|safe|unsafe|secure|insecure|expired|long|short|longer|shorter|password)$/i
const ADJECTIVE = /^[A-Z]?[a-z]+(ed|ing|ory|able|ible|ive|al|ary|ic|less|ten|den)$/
const PLAIN = /^\p{Lu}?\p{Ll}+$/u
const hasDigit = (value: string): boolean => /\d/.test(value)

function isAnnouncedPassword({ value, link, quoted, ends }: Announced): boolean {
  if (value.length < 4 || !isLiteralSecret(value) || REFERENCE.test(value)) return false
  if (ABOUT.test(value) || ADJECTIVE.test(value)) return false
  if (quoted) return link !== 'blank' ? !value.includes(' ') || hasDigit(value) || link === 'mark' : isMixed(value)
  if (link === 'mark') return !PLAIN.test(value) || ends
  if (PLAIN.test(value)) return link === 'verb' && ends && value.length >= 6
  const reads = isName(value) && !/^[a-z]+\d+$/i.test(value) && !(hasDigit(value) && /\p{Lu}/u.test(value))
  return isMixed(value) && (link === 'verb' || !reads)
}

/** Reports whether a text has letters and something else than letters and joints, or both cases inside of it. */
const isMixed = (value: string): boolean =>
  (/\p{L}/u.test(value) && /[\d!@#$%^&*?~+=|\\]/.test(value)) || /\p{Ll}\p{Lu}/u.test(value)

function isAnnouncedToken({ value, link, quoted }: Announced): boolean {
  if (value.length < 8 || value.includes(' ') || !isLiteralSecret(value) || REFERENCE.test(value)) return false
  if (UUID.test(value)) return link === 'mark'
  if (isName(value) || /^(sha\d+:|@?sha256:)/.test(value) || !hasDigit(value)) return false
  if (link === 'mark' || quoted) return true
  return value.length >= 16 && /[a-z]/.test(value) && (/[A-Z]/.test(value) || link === 'verb')
}

/** A part of a name: a word, an abbreviation or a number, perhaps both. */
const PART =
  /^(v?\d{0,4}[a-z]+\d{0,4}[a-z]?|[A-Z]{1,12}\d{0,4}|([A-Z]?[a-z]{2,}){0,2}([A-Z][a-z]{2,}){1,5}\d{0,4}|\d{1,12}[a-z]?|)$/

/** Reports whether a text looks like the name or path of something: words and short numbers with joints. */
const isName = (value: string): boolean => value.split(/[-_./:@*]/).every((part) => PART.test(part))
