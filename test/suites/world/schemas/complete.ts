import type { ProviderSchema } from '../../../../dev/prompt-lint/schema.ts'
import { readHcl } from '../../../../src/hcl/read.ts'
import type { HclBlock } from '../../../../src/hcl/tree.ts'

type BlockSchema = ProviderSchema['resource'] extends Map<string, infer Block> ? Block : never

/** The blocks that an example lacks to be a module of its own. */
export interface Completion {
  /** Names of the variables that the module is given. */
  variables: string[]
  /** Code beside the example: variables, locals, and everything else that it refers to, as bare as the schema allows. */
  code: string
}

/** Values that a root would have, so that names which are made of them are checked too. All others stay unknown. */
export const VALUES: Record<string, string> = {
  environment: '"dev"',
  location_short: '"gwc"',
  workload: '"orders"',
}

/**
 * Declares what an example refers to without declaring it.
 * @param extra paths of what a stand-in needs beside what its schema requires, by address
 */
export function completeExample(
  example: string,
  schema: ProviderSchema,
  extra: ReadonlyMap<string, readonly string[]> = new Map(),
): Completion {
  const declared = new Set(readHcl(example).body.blocks.flatMap(addressOf))
  const text = withoutTexts(example)
  const named = (pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].sort()
  const variables = named(/\bvar\.(\w+)/g).filter((name) => !declared.has(`var.${name}`))
  const locals = named(/\blocal\.(\w+)/g).filter((name) => !declared.has(`local.${name}`))
  const standIns = [...new Set(referencesIn(text))]
    .filter((address) => !declared.has(address))
    .flatMap((address) => {
      const isOneOfSeveral = text.includes(`${address}[`)
      return standIn(address, schema, { extra: extra.get(address) ?? [], isOneOfSeveral })
    })
  const all = [...variables, ...locals.map((name) => `local_${name}`), 'unknown']
  return {
    variables: all,
    code: [
      ...all.map((name) => `variable "${name}" {}\n`),
      ...(locals.length === 0
        ? []
        : [`locals {\n${locals.map((name) => `  ${name} = var.local_${name}\n`).join('')}}\n`]),
      ...standIns,
    ].join('\n'),
  }
}

function addressOf({ type, labels: [first = '', second = ''], body }: HclBlock): string[] {
  if (type === 'resource') return [`${first}.${second}`]
  if (type === 'data' || type === 'ephemeral') return [`${type}.${first}.${second}`]
  if (type === 'variable') return [`var.${first}`]
  return type === 'locals' ? body.attributes.map(({ name }) => `local.${name}`) : []
}

/** The code without comments and texts; of these only the expressions in them are left. */
const withoutTexts = (code: string): string =>
  code
    .replaceAll(/"(?:[^"\\$]|\\.|\$(?!\{)|\$\{[^}]*\})*"/g, (quoted) =>
      [...quoted.matchAll(/\$\{([^}]*)\}/g)].map(([, inner]) => ` ${inner} `).join(''),
    )
    .replaceAll(/(#|\/\/).*$/gm, '')

const referencesIn = (text: string): string[] =>
  [...text.matchAll(/(?<![\w.])(?:(data|ephemeral)\.)?([a-z][a-z0-9]*_\w+)\.([a-z]\w*)(?!\s*=[^=>])/g)].map(
    ([, mode, type, name]) => `${mode ? `${mode}.` : ''}${type}.${name}`,
  )

/** A block with what its type requires, all of it unknown. Nothing for a type that no provider has. */
function standIn(
  address: string,
  schema: ProviderSchema,
  { extra, isOneOfSeveral }: { extra: readonly string[]; isOneOfSeveral: boolean },
): string[] {
  const [name = '', type = '', mode = 'resource'] = address.split('.').toReversed()
  const block = schema[mode === 'data' ? 'data' : 'resource'].get(type)
  if (block === undefined) return []
  const several = isOneOfSeveral ? 'for_each = var.unknown\n' : ''
  return [`${mode} "${type}" "${name}" {\n${several}${bodyOf(block, extra)}}\n`]
}

/** @param extra paths below the block, such as `replication.auto` */
function bodyOf({ attributes = {}, block_types = {} }: BlockSchema, extra: readonly string[]): string {
  const below = (name: string) =>
    extra.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1))
  const isWanted = (name: string) => extra.includes(name) || below(name).length > 0
  return [
    ...Object.entries(attributes)
      .filter(([name, { required }]) => required || isWanted(name))
      .map(([name]) => `${name} = var.unknown\n`),
    ...Object.entries(block_types)
      .filter(([name, { min_items = 0 }]) => min_items > 0 || isWanted(name))
      .map(([name, { block }]) => `${name} {\n${bodyOf(block ?? {}, below(name))}}\n`),
  ].join('')
}
