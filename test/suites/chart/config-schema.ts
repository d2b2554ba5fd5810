import { readFile } from 'node:fs/promises'

/** Fields that the chart sets itself. A value of them would have no effect. */
const OF_THE_CHART = new Set([
  ...['paths.upload_folder', 'paths.git_folder', 'orchestration.rules_file', 'services.iac.endpoint'],
])
const OPTIONAL = ['notifications', 'mapping', 'authz']

/** The dotted names of all fields of the configuration file, as its page lists them; a test of the page keeps it whole. */
export async function readFields(): Promise<string[]> {
  const page = await readFile(new URL('../../../docs/configuration.md', import.meta.url), 'utf8')
  const names = page
    .split('\n')
    .filter((line) => line.split(' | ').length === 4)
    .flatMap((line) => /^\| `([a-z_.<>]+)` /.exec(line)?.[1] ?? [])
  const all = names.flatMap((name) =>
    name.includes('<name>') ? OPTIONAL.map((each) => name.replace('<name>', each)) : [name],
  )
  return [...new Set(all)].sort()
}

interface Node {
  [key: string]: Node | true
}

/**
 * The schema of the value `config`: every field of the file that an operator may set in a chart, and nothing else. The
 * process itself ignores a key that it does not know, so the chart is where a misspelt one is seen.
 */
export async function configSchema(): Promise<object> {
  const tree: Node = {}
  for (const field of await readFields()) {
    if (OF_THE_CHART.has(field) || field.endsWith('_env')) continue
    const path = field.split('.')
    let node = tree
    for (const part of path.slice(0, -1)) {
      node[part] ??= {}
      node = node[part] as Node
    }
    node[path.at(-1) as string] = true
  }
  const write = (node: Node): object => ({
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, value === true ? {} : write(value)]),
    ),
  })
  return write(tree)
}
