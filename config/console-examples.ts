import * as v from 'valibot'
import type { ConsoleExample } from './types.ts'

const shape = (issue: { expected: string | null }) =>
  issue.expected === 'Object' ? 'must be a mapping' : 'is required'
const filled = v.pipe(v.string('must be a string'), v.trim(), v.nonEmpty('must not be empty'))
const yes = v.optional(v.boolean('must be true or false'), false)
const oneOf = <const T extends readonly string[]>(...names: T) =>
  v.picklist(names, `must be one of ${names.join(', ')}`)

const example = v.object(
  {
    mode: oneOf('generate', 'drift', 'import'),
    text: filled,
    repo_uri: filled,
    iac_path: v.optional(v.string('must be a string'), ''),
    scope_id: filled,
    engine_providers: oneOf('azure', 'gcp', 'aws', 'oci', 'kubernetes'),
    is_partial: yes,
    preview: yes,
  },
  shape,
) satisfies v.GenericSchema<unknown, ConsoleExample>

/** Requests that the first screen of the console offers. */
export const consoleExamples = v.optional(v.array(example, 'must be a list'), () => [])
