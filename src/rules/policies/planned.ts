import { isJsonObject, itemsOf, type Json, type JsonObject, memberOf } from '../../base/json.ts'
import { withoutIndexes } from '../../plan/addresses.ts'
import { type CodeBlock, readBlocks } from '../../plan/code/blocks.ts'
import { COMPUTED, literalIn } from '../../plan/code/literal.ts'
import { type CodeFile, callOf, folderOf, modulePaths, within } from '../../plan/code/modules.ts'
import { describesCode, modulesOf, type Plan, stateResources } from '../../plan/plan.ts'
import { expressionsByAddress } from '../common/expressions.ts'
import type { Subject, View } from '../rule.ts'
import { blocksOf, isUnknown, jsonAt, objectOf, textOf, viewOf } from '../view.ts'
import { jsonOf, statementsIn } from './document.ts'
import { mayAllowAnyone } from './public.ts'

/** Attributes that hold a policy. */
const POLICY_KEYS = [
  'policy',
  'assume_role_policy',
  'inline_policy',
  'access_policy',
  'access_policies',
  'resource_policy',
  'policy_data',
  'policy_document',
  'delivery_destination_policy',
]

const DOCUMENTS = ['aws_iam_policy_document', 'google_iam_policy']
const MAX_DEPTH = 20

/**
 * Gives the subjects of a plan the policies that are known only after the apply, as far as the plan and the code tell
 * them: data sources that are read at the apply have their arguments in the plan, and the code has its literals. A part
 * that nobody knows is `COMPUTED`.
 * @param code files of the root, when they are known
 * @returns the subjects, and the addresses of those with a policy that stays unknown
 */
export function completePolicies(
  plan: Plan,
  subjects: readonly Subject[],
  code: readonly CodeFile[],
): { subjects: Subject[]; unread: string[] } {
  const reader = new PolicyReader(plan, code)
  const unread: string[] = []
  const complete = (subject: Subject): Subject => {
    if (subject.action === 'delete' || !/^(aws|google)_/.test(subject.type)) return subject
    const keys = POLICY_KEYS.filter((key) => isUnknown(subject, key) && reader.isGiven(subject.address, key))
    if (keys.length === 0) return subject
    const values = { ...subject.values }
    for (const key of keys) {
      const policies = reader.policiesOf(subject.address, key)
      // An inline policy of a role is a block, that of a permission set a text.
      const isBlock = key === 'inline_policy' && subject.type === 'aws_iam_role'
      if (isBlock) values[key] = [...itemsOf(values[key]), ...policies.map((policy) => ({ policy }))]
      else values[key] = merged(policies)
      if (policies.length === 0 || policies.some(isPartlyUnread)) unread.push(subject.address)
    }
    return { ...subject, values }
  }
  return { subjects: subjects.map(complete), unread: [...new Set(unread)] }
}

/** Joins policies of which one holds: each could be the one. */
const merged = (policies: readonly JsonObject[]): Json => {
  if (policies.length <= 1) return policies[0] ?? null
  const join = (key: string) => policies.flatMap((policy) => [policy[key] ?? []].flat())
  return { Statement: join('Statement'), bindings: join('bindings') }
}

const isPartlyUnread = (policy: JsonObject): boolean =>
  itemsOf(policy.Statement).includes(COMPUTED) || mayAllowAnyone(statementsIn(policy))

/** A data source with its planned values, by its address. */
interface Source {
  address: string
  view: View
}

const NOTHING: JsonObject = {}

class PolicyReader {
  /** Data sources by address without indexes of their own, but with those of their modules. */
  readonly #sources: Map<string, Source[]>
  readonly #modules: Map<string, { module: JsonObject; inputs: JsonObject }>
  readonly #isDescribed: boolean
  readonly #expressions: Map<string, JsonObject>
  readonly #blocks: () => Map<string, CodeBlock>

  constructor(plan: Plan, code: readonly CodeFile[]) {
    this.#sources = Map.groupBy(sourcesIn(plan), ({ address }) => withoutIndex(address))
    this.#modules = new Map(modulesOf(plan).map(({ address, ...rest }) => [address, rest]))
    this.#isDescribed = describesCode(plan)
    this.#expressions = expressionsByAddress(plan)
    let blocks: Map<string, CodeBlock> | null = null
    this.#blocks = () => (blocks ??= blocksByAddress(code))
  }

  /** Reports whether the code sets an argument, unless the plan does not tell; providers compute many others. */
  isGiven(address: string, key: string): boolean {
    const { module, local } = splitAddress(address)
    return !this.#isDescribed || Object.hasOwn(this.#expressionsOf(module, withoutIndexes(local)), key)
  }

  /** Returns what an argument of a resource may hold; none when nothing is known of it. */
  policiesOf(address: string, key: string): JsonObject[] {
    const { module, local } = splitAddress(address)
    const block = withoutIndexes(local)
    const expressions = this.#expressionsOf(module, block)
    const nested = itemsOf(expressions[key]).map((one) => memberOf(one, 'policy') ?? null)
    const written = nested.length > 0 ? nested : [expressions[key] ?? null]
    return written.flatMap((expression) => {
      const found = this.#fromExpression(module, expression, 0)
      if (found.length > 0) return found
      const given = this.#blocks().get(within(withoutIndexes(module), block))?.arguments
      return this.#fromCode(module, given?.get(key)?.code ?? given?.get(`${key}.policy`)?.code ?? '', 0)
    })
  }

  #expressionsOf(module: string, block: string): JsonObject {
    return this.#expressions.get(within(withoutIndexes(module), block)) ?? NOTHING
  }

  /** Follows the references of an expression of the plan to data sources, through inputs and outputs of modules. */
  #fromExpression(module: string, expression: Json, depth: number): JsonObject[] {
    const references = itemsOf(memberOf(expression, 'references')).filter((one) => typeof one === 'string')
    return this.#fromReferences(module, references, depth)
  }

  #fromReferences(module: string, references: readonly string[], depth: number): JsonObject[] {
    if (depth > MAX_DEPTH) return []
    const seen = new Set<string>()
    return references.flatMap((reference) => {
      const [first = '', second = '', third = ''] = withoutIndexes(reference).split('.')
      const name = first === 'data' || first === 'module' ? `${first}.${second}.${third}` : `${first}.${second}`
      if (seen.has(name)) return []
      seen.add(name)
      if (first === 'data' && DOCUMENTS.includes(second)) return this.#fromSources(module, name, depth)
      if (first === 'var') return this.#fromInput(module, second, depth)
      if (first === 'local')
        return this.#fromCode(
          module,
          this.#blocks()
            .get(within(withoutIndexes(module), name))
            ?.arguments.get('value')?.code ?? '',
          depth,
        )
      if (first === 'module' && third !== '') return this.#fromOutput(module, second, third, depth)
      return []
    })
  }

  #fromInput(module: string, name: string, depth: number): JsonObject[] {
    const expression = this.#modules.get(withoutIndexes(module))?.inputs[name] ?? null
    return module === '' ? [] : this.#fromExpression(parentOf(module), expression, depth + 1)
  }

  #fromOutput(module: string, call: string, name: string, depth: number): JsonObject[] {
    const inner = within(module, `module.${call}`)
    const outputs = memberOf(this.#modules.get(withoutIndexes(inner))?.module, 'outputs')
    const expression = memberOf(memberOf(outputs, name), 'expression') ?? null
    const instances = new Set(
      [...this.#sources.keys()].map((key) => splitAddress(key).module).filter((one) => isInstanceOf(one, inner)),
    )
    return [...(instances.size > 0 ? instances : [inner])].flatMap((one) =>
      this.#fromExpression(one, expression, depth + 1),
    )
  }

  #fromCode(module: string, code: string, depth: number): JsonObject[] {
    if (code === '' || depth > MAX_DEPTH) return []
    const policy = jsonOf(literalIn(code))
    if (isJsonObject(policy)) return [policy]
    const references = code.match(/\b(?:data\.\w+|local|var|module\.[\w-]+)\.[\w-]+/g) ?? []
    return this.#fromReferences(module, references, depth + 1)
  }

  #fromSources(module: string, name: string, depth: number): JsonObject[] {
    return (this.#sources.get(within(module, name)) ?? []).map(({ view }) => {
      const expressions = this.#expressionsOf(module, name)
      if (name.startsWith('data.google_')) return bindingsOf(view)
      const join = (...keys: string[]) =>
        keys.flatMap((key) => {
          const known = [view.values[key] ?? null].flat().filter((one) => typeof one === 'string')
          const policies = known.map(jsonOf).filter(isJsonObject)
          return isUnknown(view, key) || known.length === 0
            ? [...policies, ...this.#fromExpression(module, expressions[key] ?? null, depth + 1)]
            : policies
        })
      const statements = (policies: readonly JsonObject[]) =>
        policies.flatMap(({ Statement }) => [Statement ?? []].flat())
      const own = statementsOf(view)
      // A later statement takes the place of an earlier one with the same identifier.
      const all = [
        ...statements(join('source_policy_documents', 'source_json')),
        ...own,
        ...statements(join('override_policy_documents', 'override_json')),
      ]
      const sidOf = (one: Json) => memberOf(one, 'Sid') || null
      const last = new Map(all.map((one) => [sidOf(one), one]))
      return { Statement: all.filter((one) => sidOf(one) === null || last.get(sidOf(one)) === one) }
    })
  }
}

/** Returns the data sources that hold policies: those that are read at the apply, and those that were read. */
const sourcesIn = (plan: Plan): Source[] => [
  ...plan.resource_changes
    .filter(({ mode, type }) => mode === 'data' && DOCUMENTS.includes(type))
    .map(({ address, change }) => ({
      address,
      view: { values: objectOf(change.after), unknown: change.after_unknown, sensitive: undefined },
    })),
  ...stateResources(plan).flatMap(({ address, mode, type, values }) =>
    mode === 'data' && typeof address === 'string' && DOCUMENTS.includes(String(type))
      ? [{ address, view: viewOf(objectOf(values)) }]
      : [],
  ),
]

/** Indexes the blocks of code by address without indexes. */
function blocksByAddress(code: readonly CodeFile[]): Map<string, CodeBlock> {
  const files = code.map(({ path, text }) => ({ folder: folderOf(path), blocks: readBlocks(path, text).blocks }))
  const calls = files.flatMap(({ folder, blocks }) =>
    blocks.filter(({ kind }) => kind === 'module').map((block) => callOf(folder, block)),
  )
  const modules = modulePaths(calls)
  return new Map(
    files.flatMap(({ folder, blocks }) =>
      (modules.get(folder) ?? []).flatMap((module) =>
        blocks.map((block): [string, CodeBlock] => [within(module, nameOf(block)), block]),
      ),
    ),
  )
}

const nameOf = ({ kind, labels }: CodeBlock): string => (kind === 'resource' ? labels : [kind, ...labels]).join('.')

/** Splits an address into that of its module, with indexes, and the rest. */
function splitAddress(address: string): { module: string; local: string } {
  const [module = ''] = /^(?:module\.[^.[]+(?:\[(?:"(?:[^"\\]|\\.)*"|\d+)\])?\.)*/.exec(address) ?? []
  return { module: module.slice(0, -1), local: address.slice(module.length) }
}

const parentOf = (module: string): string =>
  splitAddress(module.replace(/\.?module\.[^.[]+(?:\[(?:"(?:[^"\\]|\\.)*"|\d+)\])?$/, '.x')).module

/** Removes the index of a resource, but not those of its modules. */
function withoutIndex(address: string): string {
  const { module, local } = splitAddress(address)
  return within(module, withoutIndexes(local))
}

const isInstanceOf = (module: string, call: string): boolean =>
  module === call || (module.startsWith(`${call}[`) && splitAddress(`${module}.x.y`).module === module)

const TEXT_LISTS: [argument: string, member: string][] = [
  ['actions', 'Action'],
  ['not_actions', 'NotAction'],
  ['resources', 'Resource'],
  ['not_resources', 'NotResource'],
]

/** Writes the `statement` blocks of a document as the statements of its policy. */
const statementsOf = (view: View): Json[] => [
  ...blocksOf(view, 'statement').map((block) => {
    const statement: JsonObject = { Effect: textOr(block, 'effect', 'Allow') }
    const sid = textOr(block, 'sid', '')
    if (sid !== '') statement.Sid = sid
    for (const [key, member] of TEXT_LISTS) {
      const texts = textsIn(block, key)
      if (texts.length > 0) statement[member] = texts
    }
    for (const [key, member] of [
      ['principals', 'Principal'],
      ['not_principals', 'NotPrincipal'],
    ] as const) {
      const principals = blocksOf(block, key)
      if (principals.length > 0) statement[member] = principalsOf(principals)
      else if (isUnknown(block, key)) statement[member] = COMPUTED
    }
    const conditions = blocksOf(block, 'condition')
    if (conditions.length > 0) statement.Condition = conditionsOf(conditions)
    else if (isUnknown(block, 'condition')) statement.Condition = COMPUTED
    return statement
  }),
  ...(blocksOf(view, 'statement').length === 0 && isUnknown(view, 'statement') ? [COMPUTED] : []),
]

function principalsOf(blocks: readonly View[]): JsonObject {
  const byKind = Map.groupBy(blocks, (block) => textOr(block, 'type', ''))
  return Object.fromEntries(
    [...byKind].map(([kind, ones]) => [kind, ones.flatMap((one) => textsIn(one, 'identifiers'))]),
  )
}

function conditionsOf(blocks: readonly View[]): JsonObject {
  const byTest = Map.groupBy(blocks, (block) => textOr(block, 'test', ''))
  return Object.fromEntries(
    [...byTest].map(([test, ones]) => [
      test,
      Object.fromEntries(ones.map((one) => [textOr(one, 'variable', ''), textsIn(one, 'values')])),
    ]),
  )
}

/** Returns a text, `COMPUTED` when it is unknown. */
const textOr = (view: View, key: string, otherwise: string): string =>
  textOf(view, key) ?? (isUnknown(view, key) ? COMPUTED : otherwise)

/** Returns the texts of a list, with `COMPUTED` for those that are unknown. */
function textsIn(view: View, key: string): string[] {
  const value = jsonAt(view, key)
  if (Array.isArray(value))
    return value.flatMap((one) => (typeof one === 'string' ? one : one === null ? COMPUTED : []))
  return isUnknown(view, key) ? [COMPUTED] : []
}

const bindingsOf = (view: View): JsonObject => ({
  bindings: blocksOf(view, 'binding').map((binding) => ({
    role: textOr(binding, 'role', ''),
    members: textsIn(binding, 'members'),
  })),
})
