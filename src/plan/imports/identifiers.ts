import * as v from 'valibot'
import { badGateway } from '../../base/errors.ts'
import { itemsOf, type Json, memberOf, parseJson } from '../../base/json.ts'
import type { Cloud } from '../../base/vocabulary.ts'
import { withoutIndexes } from '../addresses.ts'
import { modulesOf, type Plan } from '../plan.ts'

/**
 * Returns a function that maps all spellings of an identifier to one text. Letter case matters except on Azure. Google
 * Cloud IAM bindings have blanks in an import (`<project> <role> <member>`) and slashes in the state.
 */
export function identityOf(provider: Cloud): (id: string) => string {
  if (provider === 'azure') return (id) => id.toLowerCase()
  if (provider === 'gcp') return (id) => (BINDING.test(id) ? id.replaceAll(' ', '/') : id)
  return (id) => id
}

const BINDING = /^[^ ]+ [^ ]*roles\/[^ ]+ [^ ]+$/

const listSchema = v.array(v.string())

/**
 * Reads a list of identifiers from the iac service, a JSON array of texts. Errors: `PlatformError` 502 for other text.
 * @param what name of the list in the error, for example `scope`
 */
export function parseIdentifiers(text: string, what: string): string[] {
  const parsed = v.safeParse(listSchema, parseJson(text))
  if (!parsed.success)
    throw badGateway(`iac service returned an unexpected response: the ${what} identifiers are no JSON list of texts.`)
  return parsed.output
}

/** Longest argument that the iac service accepts, in characters. */
const MAX_LENGTH = 4096

/** Reports whether a text is safe as an engine argument: one line, not blank, no option, not too long. */
export const isArgument = (text: string): boolean =>
  text.trim() !== '' &&
  text.length <= MAX_LENGTH &&
  !text.startsWith('-') &&
  !/\p{Cc}/u.test(text) &&
  text.isWellFormed()

/** Returns the region of a block's provider, if it is a constant or a root variable; null for any other. */
export function providerRegion(plan: Plan, address: string): string | null {
  const path = withoutIndexes(address).split('.')
  const block = path.slice(-2).join('.')
  const configuration = plan.document.configuration
  const module = modulesOf(plan).find((one) => one.address === path.slice(0, -2).join('.'))?.module
  const resource = itemsOf(module?.resources).find((one) => memberOf(one, 'address') === block)
  const key = memberOf(resource, 'provider_config_key')
  if (typeof key !== 'string') return null
  const provider = memberOf(memberOf(configuration, 'provider_config'), key)
  const region = memberOf(memberOf(provider, 'expressions'), 'region')
  return textOf(memberOf(region, 'constant_value')) ?? variableOf(plan, region)
}

const textOf = (value: Json | undefined) => (typeof value === 'string' && value !== '' ? value : null)

/** Returns the value of a variable that is the whole expression; other expressions are not evaluated. */
function variableOf(plan: Plan, expression: Json | undefined): string | null {
  const [reference, ...others] = itemsOf(memberOf(expression, 'references'))
  const name = typeof reference === 'string' && others.length === 0 ? /^var\.([\w-]+)$/.exec(reference)?.[1] : undefined
  return name === undefined ? null : textOf(memberOf(memberOf(plan.document.variables, name), 'value'))
}
