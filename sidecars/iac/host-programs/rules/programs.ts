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

/** Reports whether a provisioner runs a program; only `file`, which copies, does not. */
const isProgramProvisioner = (type: string | null): boolean => type !== 'file'

const isProgramBlock = (block: string | null, type: string | null): boolean =>
  ['data', 'ephemeral', 'action'].includes(block ?? '') && ['external', 'local_command'].includes(type ?? '')

/** Finds constructs that would run a program on the engine's machine. */
export function findPrograms(tree: ConfigTree, form: 'hcl' | 'json'): Findings {
  const { root } = tree
  const placed = form === 'hcl' ? findBlocks(tree) : findMembers(tree)
  const exec = blocksOf(root, 'provider', 1).flatMap(({ body }) => findExec(body))
  const encryption = blocksOf(root, 'terraform', 0)
    .flatMap(({ body }) => blocksOf(body, 'encryption', 0))
    .flatMap(({ body }) => ['key_provider', 'method'].flatMap((block) => entriesNamed(body, block)))
    .flatMap(({ key, value }) =>
      entriesNamed(value, 'external').map(({ line }) => ({ line, construct: `${key} "external"` })),
    )
  const rendered = ['resource', 'data'].flatMap((block) =>
    blocksOf(root, block, 2).flatMap(({ labels, body }) =>
      /^helm_/.test(labels[0] ?? '')
        ? [...descendantsOf(body)]
            .filter(({ key, value }) => key === 'postrender' && !isUnset(value))
            .map(({ line }) => ({ line, construct: `postrender of ${block} "${labels[0]}"` }))
        : [],
    ),
  )
  return [...placed, ...exec, ...encryption, ...rendered].sort((a, b) => a.line - b.line)
}

/** Finds blocks at every depth, so that one in a place that the engine does not accept is refused as well. */
function findBlocks({ root }: ConfigTree): Findings {
  const findings: Findings = []
  for (const { key, line, value, block } of descendantsOf(root)) {
    if (!block) continue
    const label = value.kind === 'object' && value.entries.length === 1 ? (value.entries[0]?.key ?? null) : null
    const labelled = value.kind === 'object' && value.entries[0]?.block === true
    if (key === 'provisioner' && labelled && isProgramProvisioner(label))
      findings.push({ line, construct: `provisioner "${label ?? ''}"` })
    if (labelled && isProgramBlock(key, label)) findings.push({ line, construct: `${key} "${label}"` })
  }
  return findings
}

/** Finds blocks in JSON, where they look like other objects, only in the places that the engine accepts. */
function findMembers({ root }: ConfigTree): Findings {
  const findings: Findings = []
  for (const { body } of [...blocksOf(root, 'resource', 2), ...blocksOf(root, 'removed', 0)])
    for (const { labels, line } of blocksOf(body, 'provisioner', 1))
      if (isProgramProvisioner(labels[0] ?? '')) findings.push({ line, construct: `provisioner "${labels[0]}"` })
  for (const scope of scopesOf(root))
    for (const { key: block, value } of entriesOf(scope))
      for (const { key, line } of entriesOf(value))
        if (isProgramBlock(block, key)) findings.push({ line, construct: `${block} "${key}"` })
  return findings
}

function findExec(body: ConfigEntry['value']): Findings {
  return entriesOf(body).flatMap(({ key, line, value, block }) =>
    key === 'exec' && (block || !isUnset(value)) ? [{ line, construct: 'exec of a provider' }] : findExec(value),
  )
}
