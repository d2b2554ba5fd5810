import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { createMasker, type Masker, ownFlag } from '../base/masking.ts'
import type { Plan } from './plan.ts'

/** Text forms of every leaf that the plan marks sensitive, wherever it stands in the document. */
export function sensitiveLiterals(plan: Plan): Set<string> {
  const found = new Set<string>()
  const collect = (value: Json | undefined, flags: Json | undefined) => collectFlagged(value ?? null, flags, found)
  walk(plan.document, (node) => {
    if (isJsonObject(node.change)) collectChange(node.change, collect)
    if (isJsonObject(node.values) && 'sensitive_values' in node) collect(node.values, node.sensitive_values)
    if (isJsonObject(node.output_changes))
      for (const change of Object.values(node.output_changes)) if (isJsonObject(change)) collectChange(change, collect)
    if (isJsonObject(node.outputs))
      for (const output of Object.values(node.outputs))
        if (isJsonObject(output) && output.sensitive === true) collect(output.value, true)
  })
  for (const value of sensitiveVariables(plan.document)) collect(value, true)
  return found
}

/** A masker for everything that one or several plans of a round mark sensitive. */
export const maskerOf = (...plans: Plan[]): Masker =>
  createMasker(plans.flatMap((plan) => [...sensitiveLiterals(plan)]))

type Collect = (value: Json | undefined, flags: Json | undefined) => void

function collectChange(change: JsonObject, collect: Collect): void {
  collect(change.before, change.before_sensitive)
  collect(change.after, change.after_sensitive)
}

function collectFlagged(value: Json, flags: Json | undefined, found: Set<string>): void {
  if (flags === true) {
    for (const leaf of leaves(value)) if (leaf !== null && typeof leaf !== 'boolean') found.add(String(leaf))
  } else if (Array.isArray(value) && Array.isArray(flags)) {
    value.forEach((item, index) => {
      collectFlagged(item, flags[index], found)
    })
  } else if (isJsonObject(value) && isJsonObject(flags)) {
    for (const [key, item] of Object.entries(value)) collectFlagged(item, ownFlag(flags, key), found)
  }
}

function* leaves(value: Json): Generator<Json> {
  if (Array.isArray(value)) for (const item of value) yield* leaves(item)
  else if (isJsonObject(value)) for (const item of Object.values(value)) yield* leaves(item)
  else yield value
}

function walk(value: Json, visit: (node: JsonObject) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, visit)
  } else if (isJsonObject(value)) {
    visit(value)
    for (const item of Object.values(value)) walk(item, visit)
  }
}

/** Values of sensitive variables: given at the root, defaults, and constants in module calls. */
function* sensitiveVariables(document: JsonObject): Generator<Json | undefined> {
  const root = rootModule(document)
  for (const name of declaredSensitive(root)) yield member(member(document.variables, name), 'value')
  yield* constantsOf(root)
}

function* constantsOf(module: Json | undefined): Generator<Json | undefined> {
  for (const name of declaredSensitive(module)) yield member(member(member(module, 'variables'), name), 'default')
  const calls = member(module, 'module_calls')
  if (!isJsonObject(calls)) return
  for (const call of Object.values(calls)) {
    const called = member(call, 'module')
    for (const name of declaredSensitive(called))
      yield member(member(member(call, 'expressions'), name), 'constant_value')
    yield* constantsOf(called)
  }
}

function declaredSensitive(module: Json | undefined): string[] {
  const variables = member(module, 'variables')
  if (!isJsonObject(variables)) return []
  return Object.keys(variables).filter((name) => member(variables[name], 'sensitive') === true)
}

const rootModule = (document: JsonObject) => member(document.configuration, 'root_module')
const member = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) ? ownFlag(value, key) : undefined

/** Grows with every plan of a round, so that a value stays hidden after the plan that named it is gone. */
export interface SecretRegister extends Masker {
  learn(plan: Plan): void
  /** Text forms of further secret values. */
  add(values: Iterable<string>): void
  /** Text forms that were learned and added, without those that were secret from the start. */
  learned(): string[]
}

/** @param known text forms of values that are secret from the start */
export function createSecretRegister(known: Iterable<string> = []): SecretRegister {
  const fromStart = new Set(known)
  const literals = new Set(fromStart)
  let masker = createMasker(literals)
  const add = (values: Iterable<string>) => {
    const before = literals.size
    for (const value of values) literals.add(value)
    if (literals.size > before) masker = createMasker(literals)
  }
  return {
    learn: (plan) => add(sensitiveLiterals(plan)),
    add,
    learned: () => [...literals].filter((literal) => !fromStart.has(literal)),
    text: (text) => masker.text(text),
    json: (value) => masker.json(value),
  }
}
