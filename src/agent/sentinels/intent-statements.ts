import { MAX_STATEMENTS, readStatements } from '../../intent/schema.ts'
import { ACTIONS, OPERATORS, type Statement } from '../../intent/types.ts'
import { type Tool, ToolError } from '../types.ts'

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
    type: text('Resource type, for example aws_s3_bucket'),
    name: text('Name of the block, * for any text; of the output for output_exists'),
    address: text('Address of a resource or module that exists'),
    action: words(ACTIONS, 'resource_count: count only what the plan does this to'),
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

/**
 * Ends INTENT_CHECK. Statements that do not fit their kind are sent back once; from then on they are left out.
 * Made anew for each chain.
 */
export function intentStatementsTool(): Tool<{ statements: Statement[] }> {
  let sent_back = false
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
      if (read.faults.length === 0 || sent_back) return { statements: read.statements }
      sent_back = true
      throw new ToolError(
        `Invalid arguments of \`${NAME}\`: ${read.faults.join('; ')}. Call it again with the whole corrected list; leave out what cannot be said this way.`,
      )
    },
  }
}
