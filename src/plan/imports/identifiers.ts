import * as v from 'valibot'
import { badGateway } from '../../base/errors.ts'
import type { Cloud } from '../../base/vocabulary.ts'

/**
 * Gives a function that maps all spellings of one identifier to the same text. On Azure letter case does not matter, on
 * the other clouds it does. An IAM binding of Google Cloud is written `<project> <role> <member>` for an import, and
 * with slashes in place of the blanks in the state.
 */
export function identityOf(provider: Cloud): (id: string) => string {
  if (provider === 'azure') return (id) => id.toLowerCase()
  if (provider === 'gcp') return (id) => (BINDING.test(id) ? id.replaceAll(' ', '/') : id)
  return (id) => id
}

const BINDING = /^[^ ]+ [^ ]*roles\/[^ ]+ [^ ]+$/

const listSchema = v.array(v.string())

/**
 * Reads a list of identifiers as the iac service answers it: a JSON array of texts.
 * @param what names the list in the error, for example `scope`
 * Errors: `PlatformError` 502 when the text is anything else.
 */
export function parseIdentifiers(text: string, what: string): string[] {
  const parsed = v.safeParse(listSchema, parseJson(text))
  if (!parsed.success)
    throw badGateway(`iac service returned an unexpected response: the ${what} identifiers are no JSON list of texts.`)
  return parsed.output
}

/** Undefined when the text is no JSON; no schema accepts that. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The longest argument that the iac service accepts, in characters. */
const MAX_LENGTH = 4096

/** Whether a text can be passed to the engine as an argument: not blank, no option, a single line, not too long. */
export const isArgument = (text: string): boolean =>
  text.trim() !== '' &&
  text.length <= MAX_LENGTH &&
  !text.startsWith('-') &&
  !/\p{Cc}/u.test(text) &&
  text.isWellFormed()
