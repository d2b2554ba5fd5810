import { type FileScan, isLocalSource, isProgramBlock, isProgramProvisioner } from './findings.ts'
import { type JsonNode, jsonTree } from './json-tree.ts'

interface Member {
  key: string
  line: number
  value: JsonNode
}

/** Members of an object, or of all objects of a list: the engine reads both as one body or label level. */
function members(node: JsonNode): Member[] {
  if (node.kind === 'object') return node.entries
  return node.kind === 'array' ? node.items.flatMap(members) : []
}
const named = (node: JsonNode, key: string): Member[] => members(node).filter((member) => member.key === key)
/** Bodies of all blocks of a type that takes this many labels. */
const bodies = (node: JsonNode, block: string, labels: number): JsonNode[] => {
  let level = named(node, block).map(({ value }) => value)
  for (let i = 0; i < labels; i++) level = level.flatMap((each) => members(each).map(({ value }) => value))
  return level
}

/** The JSON form of the language: blocks are keys, their labels the keys below. */
export function scanJson(source: string): FileScan {
  const root = jsonTree(source)
  if (root === null) return { findings: [], modules: [], complete: false }
  const findings: FileScan['findings'] = []
  for (const body of [...bodies(root, 'resource', 2), ...bodies(root, 'removed', 0)]) {
    for (const { key, line } of named(body, 'provisioner').flatMap(({ value }) => members(value)))
      if (isProgramProvisioner(key)) findings.push({ line, construct: `provisioner "${key}"` })
  }
  for (const scope of [root, ...bodies(root, 'check', 1)]) {
    for (const { key: block, value } of members(scope))
      for (const { key, line } of members(value))
        if (isProgramBlock(block, key)) findings.push({ line, construct: `${block} "${key}"` })
  }
  for (const provider of bodies(root, 'provider', 1)) findings.push(...execMembers(provider))
  const sources = bodies(root, 'module', 1).flatMap((body) => named(body, 'source').map(({ value }) => value))
  const modules = sources.flatMap((value) =>
    value.kind === 'string' && isLocalSource(value.value) ? [value.value] : [],
  )
  return { findings, modules, complete: true }
}

function execMembers(node: JsonNode): FileScan['findings'] {
  return members(node).flatMap(({ key, line, value }) =>
    key === 'exec' && members(value).length > 0 ? [{ line, construct: 'exec of a provider' }] : execMembers(value),
  )
}
