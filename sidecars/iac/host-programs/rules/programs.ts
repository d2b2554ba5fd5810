import {
  blocksOf,
  type ConfigEntry,
  type ConfigTree,
  descendantsOf,
  entriesNamed,
  entriesOf,
  isUnset,
  scopesOf,
} from '../config-tree.ts'
import type { Findings } from '../findings.ts'
import { isCredentialProgram } from './credential-programs.ts'

const EXTERNAL = 'external' as const

/** Reports whether a provisioner runs a program; only `file`, which copies, does not. */
const isProgramProvisioner = (type: string | null): boolean => type !== 'file'

/** Returns the finding of a provisioner. One that is no part of the engine is a program already when code is read. */
const provisioner = (line: number, type: string | null, owner?: string): Findings[number] => ({
  line,
  construct: `provisioner "${type ?? ''}"`,
  ...(/^(?:local|remote)-exec$/.test(type ?? '') && { kind: 'provisioner', owner }),
})

const isProgramBlock = (block: string | null, type: string | null): boolean =>
  ['data', 'ephemeral', 'action'].includes(block ?? '') && ['external', 'local_command'].includes(type ?? '')

/** Finds constructs that would run a program on the engine's machine. */
export function findPrograms(tree: ConfigTree, form: 'hcl' | 'json'): Findings {
  const { root } = tree
  const placed = form === 'hcl' ? findBlocks(tree) : findMembers(tree)
  const exec = blocksOf(root, 'provider', 1).flatMap(({ labels: [type = ''], body }) => findExec(type, body))
  const encryption = blocksOf(root, 'terraform', 0)
    .flatMap(({ body }) => blocksOf(body, 'encryption', 0))
    .flatMap(({ body }) => ['key_provider', 'method'].flatMap((block) => entriesNamed(body, block)))
    .flatMap(({ key, value }) =>
      entriesNamed(value, 'external').map(({ line }) => ({ line, construct: `${key} "external"`, kind: EXTERNAL })),
    )
  const rendered = ['resource', 'data'].flatMap((block) =>
    blocksOf(root, block, 2).flatMap(({ labels, body }) =>
      /^helm_/.test(labels[0] ?? '')
        ? [...descendantsOf(body)]
            .filter(({ key, value }) => key === 'postrender' && !isUnset(value))
            .map(({ line }) => ({ line, construct: `postrender of ${block} "${labels[0]}"`, kind: EXTERNAL }))
        : [],
    ),
  )
  return [...placed, ...exec, ...encryption, ...rendered].sort((a, b) => a.line - b.line)
}

/** Finds blocks at every depth, so that one in a place that the engine does not accept is refused as well. */
function findBlocks({ root }: ConfigTree): Findings {
  const findings: Findings = []
  const owners = new Map(
    blocksOf(root, 'resource', 2).flatMap(({ labels, body }) =>
      entriesNamed(body, 'provisioner').map((entry) => [entry, labels.join('.')] as const),
    ),
  )
  for (const entry of descendantsOf(root)) {
    const { key, line, value, block } = entry
    if (!block) continue
    const label = value.kind === 'object' && value.entries.length === 1 ? (value.entries[0]?.key ?? null) : null
    const labelled = value.kind === 'object' && value.entries[0]?.block === true
    if (key === 'provisioner' && labelled && isProgramProvisioner(label))
      findings.push(provisioner(line, label, owners.get(entry)))
    if (labelled && isProgramBlock(key, label)) findings.push({ line, construct: `${key} "${label}"`, kind: EXTERNAL })
  }
  return findings
}

/** Finds blocks in JSON, where they look like other objects, only in the places that the engine accepts. */
function findMembers({ root }: ConfigTree): Findings {
  const findings: Findings = []
  for (const { labels: owner, body } of [...blocksOf(root, 'resource', 2), ...blocksOf(root, 'removed', 0)])
    for (const { labels, line } of blocksOf(body, 'provisioner', 1))
      if (isProgramProvisioner(labels[0] ?? ''))
        findings.push(provisioner(line, labels[0] ?? '', owner.join('.') || undefined))
  for (const scope of scopesOf(root))
    for (const { key: block, value } of entriesOf(scope))
      for (const { key, line } of entriesOf(value))
        if (isProgramBlock(block, key)) findings.push({ line, construct: `${block} "${key}"`, kind: EXTERNAL })
  return findings
}

function findExec(type: string, body: ConfigEntry['value']): Findings {
  return entriesOf(body).flatMap(({ key, line, value, block }): Findings => {
    if (key !== 'exec' || (!block && isUnset(value))) return findExec(type, value)
    const known = /^(?:kubernetes|helm|kubectl)$/.test(type) && isCredentialProgram(value)
    return [{ line, construct: 'exec of a provider', kind: 'exec', known }]
  })
}
