import { ExactNumber, isJsonObject, type Json, type JsonObject, memberOf, parseJson } from '../base/json.ts'
import { createMasker, type Masker } from '../base/masking.ts'
import { isSecretVariable } from '../base/secret-forms.ts'
import { finish, inSlices } from '../base/slices.ts'
import { modulesOf, type Plan } from './plan.ts'
import { itemMarks, memberMarks } from './value-marks.ts'

/** Returns the text of every scalar that the plan marks sensitive anywhere. */
export const sensitiveLiterals = (plan: Plan): Set<string> => finish(collectLiterals(plan))

/** Nodes of a document between two steps. */
const STEP = 1_024

function* collectLiterals(plan: Plan): Generator<void, Set<string>> {
  const literals = new Set<string>()
  const collect = (value: Json | undefined, flags: Json | undefined) => collectFlagged(value ?? null, flags, literals)
  let visited = 0
  for (const node of objectsIn(plan.document)) {
    if (++visited % STEP === 0) yield
    if (isJsonObject(node.change)) collectChange(node.change, collect)
    if (isJsonObject(node.values) && 'sensitive_values' in node) collect(node.values, node.sensitive_values)
    if (isJsonObject(node.output_changes))
      for (const change of Object.values(node.output_changes)) if (isJsonObject(change)) collectChange(change, collect)
    if (isJsonObject(node.outputs))
      for (const output of Object.values(node.outputs))
        if (isJsonObject(output) && output.sensitive === true) collect(output.value, true)
  }
  for (const value of sensitiveVariables(plan)) collect(value, true)
  return literals
}

/** Creates a masker for everything that plans of a round mark sensitive. */
export const maskerOf = (...plans: Plan[]): Masker =>
  createMasker(plans.flatMap((plan) => [...sensitiveLiterals(plan)]))

type Collect = (value: Json | undefined, flags: Json | undefined) => void

function collectChange(change: JsonObject, collect: Collect): void {
  collect(change.before, change.before_sensitive)
  collect(change.after, change.after_sensitive)
}

function collectFlagged(value: Json, flags: Json | undefined, literals: Set<string>): void {
  if (flags === undefined) return
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) collectFlagged(item, itemMarks(flags, index), literals)
  else if (isJsonObject(value))
    for (const [key, item] of Object.entries(value)) collectFlagged(item, memberMarks(flags, key), literals)
  else if (flags === true && value !== null && typeof value !== 'boolean') {
    literals.add(String(value))
    if (typeof value === 'string') for (const secret of secretsIn(value)) literals.add(secret)
  }
}

/** Longest text that is read as a document, in UTF-16 units. */
const MAX_DOCUMENT = 100_000

/** Yields the secrets in a JSON document, which code that encodes it, or another document, holds by themselves. */
function* secretsIn(text: string): Generator<string> {
  if (text.length > MAX_DOCUMENT || !/^\s*[[{]/.test(text)) return
  for (const node of objectsIn(parseJson(text) ?? null))
    for (const [key, value] of Object.entries(node))
      if (typeof value === 'string' && isSecretVariable(key, value)) yield value
}

/** Yields all objects of a value, whatever its depth. */
function* objectsIn(value: Json): Generator<JsonObject> {
  const open = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (isJsonObject(next)) yield next
    if (typeof next !== 'object' || next === null || next instanceof ExactNumber) continue
    for (const item of Object.values(next)) if (typeof item === 'object') open.push(item)
  }
}

/** Yields values of sensitive variables: root values, defaults, and constants in module calls. */
function* sensitiveVariables(plan: Plan): Generator<Json | undefined> {
  for (const { address, module, inputs } of modulesOf(plan))
    for (const name of declaredSensitive(module)) {
      if (address === '') yield memberOf(memberOf(plan.document.variables, name), 'value')
      yield memberOf(memberOf(module.variables, name), 'default')
      yield memberOf(memberOf(inputs, name), 'constant_value')
    }
}

/** Engines write values of ephemeral variables to the plan JSON as they are. */
const MARKS = ['sensitive', 'ephemeral']

function declaredSensitive(module: Json | undefined): string[] {
  const variables = memberOf(module, 'variables')
  if (!isJsonObject(variables)) return []
  return Object.keys(variables).filter((name) => MARKS.some((mark) => memberOf(variables[name], mark) === true))
}

/** A masker that learns from all plans of a round; values stay masked when later plans omit them. */
export type SecretRegister = ReturnType<typeof createSecretRegister>

/** @param initial texts masked from the start, such as credentials of the process */
export function createSecretRegister(initial: Iterable<string> = []) {
  const initialLiterals = new Set(initial)
  const literals = new Set(initialLiterals)
  let masker = createMasker(literals)
  const add = (values: Iterable<string>) => {
    const before = literals.size
    for (const value of values) literals.add(value)
    if (literals.size > before) masker = createMasker(literals)
  }
  return {
    /** Masks what this plan marks sensitive, from the time when the promise resolves. */
    learn: async (plan: Plan) => add(await inSlices(collectLiterals(plan))),
    /** Masks these texts. */
    add,
    /** Returns the learned and added texts, without the initial ones. */
    learned: () => [...literals].filter((literal) => !initialLiterals.has(literal)),
    text: (text: string) => masker.text(text),
    /** Does the same as `text` in slices, again when values were added meanwhile. */
    textInSlices: async (text: string) => {
      for (;;) {
        const used = masker
        const masked = await used.textInSlices(text)
        if (used === masker) return masked
      }
    },
    json: (value: Json) => masker.json(value),
  }
}
