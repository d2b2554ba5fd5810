import * as v from 'valibot'
import { createResultTool } from '../agent/result-tool.ts'
import { fence } from '../prompts/fence.ts'
import { bullets, joinParts, renderLayout } from '../prompts/layout.ts'
import { showDiff } from './shared/branch-diff.ts'
import { defineChain } from './shared/chain.ts'
import { endState, requiredText } from './shared/result-fields.ts'

interface ImportAddressesValues {
  /** Identifiers that wait for an import. */
  pendingIds: readonly string[]
  /** Addresses that the plan would create, the only possible targets of an import. */
  addresses: readonly string[]
  /** Diff of the session's branch from the workspace. */
  diff: string
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
  system: (_, { pendingIds }: ImportAddressesValues) =>
    renderLayout({
      role: 'You match identifiers of existing resources with the blocks that were written for them in this session.',
      rules: [
        'The diff shows the blocks that this session wrote. Read a file where the diff is cut, or does not show in ' +
          'which module a block lies.',
        'Give each identifier the full address of exactly one resource block, with index where the block has ' +
          '`count` or `for_each`.',
        'Match by kind and by the name or identifier in the arguments, not by position.',
        'Use every address once. Leave out an identifier that has no block rather than guess, and name it in the ' +
          'summary.',
        'Copy the identifiers exactly: the engine takes them as they are.',
      ],
      blocks: [['Identifiers without address', fence('identifiers', bullets(pendingIds))]],
      finish: 'Call `import_addresses` once with `status`, `summary` and `imports`.',
    }),
  query: ({ addresses, diff }) =>
    joinParts(
      'Match the identifiers with the blocks of this session.',
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
