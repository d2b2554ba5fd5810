import { type FileScan, isLocalSource, isProgramBlock, isProgramProvisioner } from './findings.ts'
import { type JsonNode, parseJsonTree } from './json-tree.ts'

interface Member {
  key: string
  line: number
  value: JsonNode
}

/** Members of an object, or of all objects of a list. The engine takes a list of objects for several blocks. */
function membersOf(node: JsonNode): Member[] {
  if (node.kind === 'object') return node.entries
  return node.kind === 'array' ? node.items.flatMap(membersOf) : []
}
const membersNamed = (node: JsonNode, key: string): Member[] => membersOf(node).filter((member) => member.key === key)
/** The bodies of all blocks of a type, which has this many labels: `resource` has two, `module` has one. */
const bodiesOf = (node: JsonNode, block: string, labels: number): JsonNode[] => {
  let level = membersNamed(node, block).map(({ value }) => value)
  for (let i = 0; i < labels; i++) level = level.flatMap((each) => membersOf(each).map(({ value }) => value))
  return level
}

/** Scans the JSON form of the language, in which a block is a key and its labels are the keys below it. */
export function scanJson(source: string): FileScan {
  const root = parseJsonTree(source)
  if (root === null) return { findings: [], modules: [], complete: false }
  const findings: FileScan['findings'] = []
  for (const body of [...bodiesOf(root, 'resource', 2), ...bodiesOf(root, 'removed', 0)]) {
    for (const { key, line } of membersNamed(body, 'provisioner').flatMap(({ value }) => membersOf(value)))
      if (isProgramProvisioner(key)) findings.push({ line, construct: `provisioner "${key}"` })
  }
  for (const scope of [root, ...bodiesOf(root, 'check', 1)]) {
    for (const { key: block, value } of membersOf(scope))
      for (const { key, line } of membersOf(value))
        if (isProgramBlock(block, key)) findings.push({ line, construct: `${block} "${key}"` })
  }
  for (const provider of bodiesOf(root, 'provider', 1)) findings.push(...findExecMembers(provider))
  const sources = bodiesOf(root, 'module', 1).flatMap((body) => membersNamed(body, 'source').map(({ value }) => value))
  const modules = sources.flatMap((value) =>
    value.kind === 'string' && isLocalSource(value.value) ? [value.value] : [],
  )
  return { findings, modules, complete: true }
}

function findExecMembers(node: JsonNode): FileScan['findings'] {
  return membersOf(node).flatMap(({ key, line, value }) =>
    key === 'exec' && membersOf(value).length > 0
      ? [{ line, construct: 'exec of a provider' }]
      : findExecMembers(value),
  )
}
