import * as v from 'valibot'
import { createResultTool } from '../agent/result-tool.ts'
import type { Cloud } from '../base/vocabulary.ts'
import { stripBackticks } from '../plan/addresses.ts'
import type { FileDiff } from '../plan/code/compare.ts'
import { identityOf } from '../plan/imports/inventory.ts'
import { bullets, fence, joinBodies, joinParts, LANGUAGE_RULE, renderLayout } from '../prompts/layout.ts'
import { showDiff } from './shared/branch-diff.ts'
import { defineChain } from './shared/chain.ts'
import { createOperationsTool } from './shared/operations.ts'
import { endState, requiredText } from './shared/result-fields.ts'

interface ImportFilterValues {
  cloud: Cloud
  request: string
  /** Identifiers of the scope that no state manages. */
  unmanagedIds: readonly string[]
  /** Bodies of the selected resource prompts. */
  templates: readonly string[]
  abbreviations: readonly string[]
}

/**
 * Selects the resources that a request wants to import, in the order and spelling of the unmanaged identifiers; others
 * are `invented`. The explanation is for the user, masked, and may be empty.
 */
export const importFilter = defineChain({
  name: 'IMPORT_FILTER',
  role: 'small',
  system: (_, { unmanagedIds, templates, abbreviations }: ImportFilterValues) =>
    renderLayout({
      role:
        'You select, from the resources that exist in a scope and are not yet managed, those that a request wants ' +
        'to import.',
      rules: [
        'Choose only from the list of identifiers below and copy each one exactly, one per entry.',
        'Match by kind, name, group, region or tag as far as the identifier shows them. Templates and ' +
          'abbreviations help to tell kinds from names.',
        'A request for a group ("everything of the billing service") selects every identifier that plainly ' +
          'belongs to it.',
        'Do not select what a chosen resource depends on unless the request asks for it.',
        'Nothing matches: report an empty list and tell the user in the explanation what was looked for.',
        LANGUAGE_RULE,
      ],
      blocks: [
        ['Identifiers that are not managed', fence('identifiers', bullets(unmanagedIds))],
        ['Templates', joinBodies(templates)],
        ['Abbreviations', abbreviations.length > 0 ? fence('abbreviations', bullets(abbreviations)) : ''],
      ],
      finish:
        'Call `report_decomposed_task_operations` once: `operations` is the list of selected identifiers, ' +
        '`explanation` says how they were chosen.',
    }),
  query: ({ request }) => `Select the identifiers that this request wants to import.\n\n${fence('request', request)}`,
  seesConversation: true,
  resultTool: () =>
    createOperationsTool({
      tool: 'Report the identifiers that are to be imported.',
      operations: 'Selected identifiers, copied exactly, one per entry; may be empty',
      explanation: 'How they were chosen, written to the user',
    }),
  read: ({ operations, explanation }, { values: { cloud, unmanagedIds }, mask }) => {
    const toIdentity = identityOf(cloud)
    const named = new Map(operations.map(stripBackticks).map((id) => [toIdentity(id), id]))
    const known = new Set(unmanagedIds.map(toIdentity))
    const ids = unmanagedIds.filter((id) => named.has(toIdentity(id)))
    const invented = [...named].flatMap(([key, id]) => (known.has(key) ? [] : mask(id)))
    return { ids, invented, explanation: mask(explanation.trim()) }
  },
})

interface ImportAddressesValues {
  /** Identifiers that wait for an import. */
  pendingIds: readonly string[]
  /** Addresses that the plan would create, the only possible targets of an import. */
  addresses: readonly string[]
  /** Diff of the session's branch from the workspace. */
  diff: readonly FileDiff[]
}

const schema = v.object({
  status: endState('done, or what is left'),
  summary: requiredText('Which resources were matched and which were not'),
  imports: v.pipe(
    v.array(
      v.object({
        address: requiredText('Address of the resource block'),
        resource_id: requiredText('Identifier as given, unchanged'),
      }),
    ),
    v.description('One entry per resource that has a block'),
  ),
})

/** Matches identifiers with the resource blocks that were written for them; code checks the pairs. */
export const importAddresses = defineChain({
  name: 'IMPORT_ADDRESSES',
  role: 'small',
  system: (_, __: ImportAddressesValues) =>
    renderLayout({
      role: 'You match identifiers of existing resources with the blocks that were written for them in this session.',
      rules: [
        'The diff shows the blocks that this session wrote. Read a file where the diff is cut, or does not show in ' +
          'which module a block lies.',
        'Give each identifier the full address of exactly one resource block, with index where the block has ' +
          '`count` or `for_each`.',
        'Match by kind and by the name or identifier in the arguments, not by position.',
        'Use an address at most once. Leave out an identifier without a block, and one that you cannot tell from ' +
          'another, rather than guess, and name it in the summary.',
        'Copy the identifiers exactly: the engine takes them as they are.',
      ],
      finish: 'Call `import_addresses` once with `status`, `summary` and `imports`.',
    }),
  query: ({ pendingIds, addresses, diff }) =>
    joinParts(
      `Match these identifiers with the blocks of this session.\n\n${fence('identifiers', bullets(pendingIds))}`,
      addresses.length > 0 &&
        `These are the addresses that the plan has for them.\n\n${fence('addresses', bullets(addresses))}`,
      showDiff(diff),
    ),
  tools: ['inspection'],
  resultTool: () =>
    createResultTool({
      name: 'import_addresses',
      description: 'Report the address of each resource that is to be imported.',
      schema,
    }),
  read: ({ imports }) => imports,
})
