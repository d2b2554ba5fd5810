import * as v from 'valibot'
import { badGateway } from '../../base/errors.ts'
import type { Cloud } from '../../base/vocabulary.ts'

/**
 * What two spellings of one identifier have in common. azure does not tell letter cases apart, the others do; a binding
 * of gcp is `<project> <role> <member>` for an import and has slashes for blanks in the state.
 */
export function identity(provider: Cloud): (id: string) => string {
  if (provider === 'azure') return (id) => id.toLowerCase()
  if (provider === 'gcp') return (id) => (BINDING.test(id) ? id.replaceAll(' ', '/') : id)
  return (id) => id
}
const BINDING = /^[^ ]+ [^ ]*roles\/[^ ]+ [^ ]+$/

const listSchema = v.array(v.string())

/**
 * Reads a list of identifiers as the iac service answers it: a JSON array of texts.
 * @param what named in the error, for example `scope`
 * Errors: `PlatformError` 502 when the text is anything else.
 */
export function parseIdentifiers(text: string, what: string): string[] {
  const parsed = v.safeParse(listSchema, parseJson(text))
  if (!parsed.success)
    throw badGateway(`iac service returned an unexpected response: the ${what} identifiers are no JSON list of texts.`)
  return parsed.output
}

/** Undefined when the text is no JSON, which no schema accepts. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The longest argument that the iac service takes. */
const MAX_LENGTH = 4096

/** Whether the engine can be given the text as an argument: no option, one line, not blank, not too long. */
export const isArgument = (text: string): boolean =>
  text.trim() !== '' &&
  text.length <= MAX_LENGTH &&
  !text.startsWith('-') &&
  !/\p{Cc}/u.test(text) &&
  text.isWellFormed()
