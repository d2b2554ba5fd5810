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
        'You turn a request for a change of infrastructure code into statements that a program checks against ' +
        'the plan of the engine. You write no code and judge no request.',
      rules: [
        `Resource types and attributes are those of the provider of the cloud \`${cloud}\`, or of the types the ` +
          'repository already uses where those serve the request.',
        'State only what the request says or cannot mean otherwise. What the engineer may choose freely, such as ' +
          'names of blocks, helper resources or sizes that are not asked for, is no statement. Few certain ' +
          'statements are better than many guesses; at most 20.',
        '`resource_count`: how many resources of a type the plan creates, updates, deletes or recreates ' +
          '(`action`), or how many there are afterwards (no `action`). Use `at_least` when something is to be ' +
          'added, `eq` only when the request names the number as a whole, and `eq` with 0 where there may be none.',
        '`attribute`: a value that the request names, at the `path` the plan has it at: nested blocks and keys of maps ' +
          'by name (`rule.status`, `tags["a.b"]`), one item of a list by number (`rule[0].status`), without a number ' +
          'any of them; a JSON text, such as a policy, is read like a map. Holds when one changed resource of the `type` or `address` has it; set `every` when ' +
          'all of them must. Use the unit of the attribute. Prefer `contains`, `at_least` and `at_most` where the ' +
          'request is not exact.',
        '`unchanged`: a type or an existing address that the request says must stay as it is. `no_deletions`: ' +
          'when the request only adds or says that nothing may be lost; what is recreated counts as deleted. ' +
          '`no_changes_outside`: only when the request limits the change in so many words; name `addresses` rather ' +
          'than `types` where only what exists may change, because a type admits all of its kind.',
        'What the request wants destroyed or made anew is always a statement: `resource_count` with the action ' +
          '`delete` or `recreate`, and `name` or `address` where it names one. What no statement asks to destroy is ' +
          'treated as a mistake.',
        'A request that only rearranges code (moves it into a module, renames or splits blocks) changes nothing that ' +
          'exists: state `no_deletions`, and `resource_count` of type `*` with `eq` 0 once for `create` and once for ' +
          '`update`.',
        '`output_exists`: an output that the request names.',
        'In `type`, `name`, `address` and with `matches`, `*` stands for any text, `?` for one character, and ' +
          '`|` parts alternatives. There are no regular expressions.',
        'Earlier requests of the session are carried out in the code, applied or not; state what the last one asks for.',
        'The plan has the values that the engine reads by itself (`terraform.tfvars`, `*.auto.tfvars`): state ' +
          'nothing about values in other files. Where the path of a value cannot be told from what you see, leave ' +
          'that statement out.',
        'A request that cannot be stated this way: report an empty list.',
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

const text = (description: string) => ({ type: 'string', description })
const list = (items: object, description: string) => ({ type: 'array', items, description })
const words = (values: readonly string[], description: string) => ({ type: 'string', enum: values, description })

const VALUE = text('What it is compared with, numbers and booleans as text')
const where = {
  type: 'object',
  properties: { path: text('Path of the attribute'), op: words(OPERATORS, 'Comparison'), value: VALUE },
  required: ['path', 'op'],
}
const statement = {
  type: 'object',
  properties: {
    id: text('A short name of the statement'),
    text: text('The statement as one sentence'),
    words: text('The words of the request it stands for, verbatim'),
    kind: words(
      ['resource_count', 'attribute', 'unchanged', 'no_deletions', 'no_changes_outside', 'output_exists'],
      'What is looked at; the other fields depend on it',
    ),
    type: text('Resource type as the provider spells it'),
    name: text('Name of the block, * for any text; of the output for output_exists'),
    address: text('Address of a resource or module that exists'),
    action: words(REPORT_ACTIONS, 'resource_count: count only what the plan does this to'),
    op: words(OPERATORS, 'Comparison; eq, at_least or at_most for resource_count'),
    path: text('attribute: path as in the plan, for example versioning_configuration.status'),
    value: VALUE,
    every: { type: 'boolean', description: 'attribute: has to hold for every such resource; default is one' },
    where: list(where, 'resource_count: count only resources with these attributes'),
    types: list({ type: 'string' }, 'no_changes_outside: resource types that may change'),
    addresses: list({ type: 'string' }, 'no_changes_outside: addresses that may change'),
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
        properties: { statements: list(statement, `At most ${MAX_STATEMENTS}; empty when nothing can be checked`) },
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
