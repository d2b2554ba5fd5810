import { cutMiddle } from '../base/text.ts'
import { fence } from './fence.ts'
import { feedbackQuery } from './queries.ts'

const MAX_OUTPUT = 60_000

/**
 * What the generator is asked after the engine refused its code: the findings, then all that the engine said.
 * @param findings causes first; empty when the output has no known form
 */
export function repairQuery(feedback: string, findings: string): string {
  const output = cutMiddle(feedback, MAX_OUTPUT)
  if (findings === '') return feedbackQuery(output)
  const asked =
    'The engine did not accept the code. These are its findings, causes first. Correct the causes in the files.'
  return `${asked}\n\n${fence('findings', findings)}\n\nAll that the engine said:\n\n${fence('engine output', output)}`
}

/** @param schema arguments of the types in play; empty leaves the query as it is */
export const withSchema = (query: string, schema: string): string =>
  schema === ''
    ? query
    : `${query}\n\nWhat the installed providers take for the types in play; look up others with \`resource_schema\`. What is not listed does not exist, unless the list is cut.\n\n${fence('provider schema', schema)}`
