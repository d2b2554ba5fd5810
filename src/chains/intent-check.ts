import { type Tool, ToolError } from '../agent/agent-request.ts'
import type { Cloud } from '../base/vocabulary.ts'
import { REPORT_ACTIONS } from '../plan/actions.ts'
import { fence, joinParts, LANGUAGE_RULE, renderLayout } from '../prompts/layout.ts'
import { MAX_STATEMENTS, OPERATORS, readStatements, type Statement } from '../rules/intent/statement.ts'
import { defineChain } from './shared/chain.ts'

interface IntentValues {
  cloud: Cloud
  request: string
  /** The declarations of the repository; empty when unknown. */
  blocks: string
  /** Diff of the session's changes so far; empty when there are none. */
  changes?: string
}

/** Turns a request into statements that code checks against the plan. */
export const intentCheck = defineChain({
  name: 'INTENT_CHECK',
  role: 'small',
  system: (_, { cloud }: IntentValues) =>
    renderLayout({
      role:
        'You turn a request for a change of infrastructure code into statements that a program checks against the plan ' +
        'of the engine.',
      rules: [
        `Resource types and attributes are those of the provider of the cloud \`${cloud}\`, or of the types the ` +
          'repository already uses where those serve the request.',
        'State only what the request says or cannot mean otherwise, not what the engineer may choose (names of blocks, ' +
          'helper resources, sizes). Few certain statements are better than many guesses; at most ' +
          `${MAX_STATEMENTS}.`,
        '`resource_count`: how many resources of a type the plan creates, updates, deletes or recreates (`action`), or ' +
          'how many there are afterwards (no `action`): `at_least` for what is added, `eq` only for a number that the ' +
          'request gives for all, or 0 where there may be none. `where` counts only those with these attributes.',
        '`attribute`: a value that the request names, at its `path` in the plan: nested blocks and keys of maps by ' +
          'name (`rule.status`, `tags["a.b"]`), one item of a list by number (`rule[0].status`), without a number any ' +
          'of them; a JSON text, such as a policy, is read like a map. It holds when one changed resource of the ' +
          '`type` or `address` has it, with `every` when all have. In the unit of the attribute; `contains`, `at_least` or ' +
          '`at_most` where the request is not exact.',
        '`unchanged`: a type or an existing address that the request says must stay as it is. `no_deletions`: ' +
          'when the request only adds or says that nothing may be lost; what is recreated counts as deleted. ' +
          '`no_changes_outside`: only when the request limits the change in so many words; `addresses`, not `types`, ' +
          'where only what exists may change. `output_exists`: an output that the request names.',
        'What the request wants destroyed or made anew is always a statement: `resource_count` with the action ' +
          '`delete` or `recreate`, and `name` or `address` where it names one. Any other loss is treated as a mistake.',
        'A request that only rearranges code (into a module, renames, splits) changes nothing that exists: ' +
          '`no_deletions`, and `resource_count` of type `*` with `eq` 0 once for `create` and once for `update`.',
        'In `type`, `name`, `address` and with `matches`, `*` stands for any text, `?` for one character, and `|` parts ' +
          'alternatives; no regular expressions.',
        'Earlier requests are carried out already: state what the last one asks for.',
        'The plan has the values that the engine loads (`terraform.tfvars`, `*.auto.tfvars`): state nothing about those ' +
          'in other files, nor where you cannot tell the path.',
        'What cannot be stated this way: an empty list.',
        LANGUAGE_RULE,
      ],
      finish: 'Call `report_intent_statements` once with `statements`.',
    }),
  query: ({ request, blocks, changes = '' }) =>
    joinParts(
      `State what the plan must show for this request.\n\n${fence('request', request)}`,
      blocks && fence('repository', blocks),
      changes && fence('changes of this session', changes),
    ),
  seesConversation: true,
  resultTool: createStatementsTool,
  maxTurns: 3,
  read: ({ statements }) => statements,
})

const NAME = 'report_intent_statements'

const described = (description?: string) => (description === undefined ? {} : { description })
const text = (description?: string) => ({ type: 'string', ...described(description) })
const list = (items: object, description?: string) => ({ type: 'array', items, ...described(description) })
const words = (values: readonly string[], description?: string) => ({
  ...{ type: 'string', enum: values },
  ...described(description),
})

const VALUE = text('Numbers and booleans as text')
const where = {
  type: 'object',
  properties: { path: text(), op: text('One of those of `op`'), value: text() },
  required: ['path', 'op'],
}
const statement = {
  type: 'object',
  properties: {
    text: text('The statement as one sentence'),
    words: text('The words of the request it stands for, verbatim'),
    kind: words(['resource_count', 'attribute', 'unchanged', 'no_deletions', 'no_changes_outside', 'output_exists']),
    type: text('As the provider spells it'),
    name: text('Of the block or output'),
    address: text('Of a resource or module that exists'),
    action: words(REPORT_ACTIONS),
    op: words(OPERATORS, 'Of resource_count eq, at_least or at_most'),
    path: text('As in the plan, such as versioning_configuration.status'),
    value: VALUE,
    every: { type: 'boolean' },
    where: list(where),
    types: list({ type: 'string' }),
    addresses: list({ type: 'string' }),
  },
  required: ['text', 'words', 'kind'],
}

/** Creates the result tool with a flat JSON schema. Invalid statements are rejected once and then dropped. */
function createStatementsTool(): Tool<{ statements: Statement[] }> {
  let sentBack = false
  return {
    definition: {
      name: NAME,
      description: 'Report what the plan must show if it does what the request asks for.',
      parameters: {
        type: 'object',
        properties: { statements: list(statement) },
        required: ['statements'],
      },
    },
    run: ({ statements }) => {
      if (!Array.isArray(statements))
        throw new ToolError(`Invalid arguments of \`${NAME}\`: statements: must be a list.`)
      const read = readStatements(statements)
      if (read.faults.length === 0 || sentBack) return { statements: read.statements }
      sentBack = true
      throw new ToolError(
        `Invalid arguments of \`${NAME}\`: ${read.faults.join('; ')}. Call it again with the whole corrected ` +
          'list; leave out what cannot be said this way.',
      )
    },
  }
}
