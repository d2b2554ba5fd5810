import * as v from 'valibot'
import type { ModelListEntry } from '../types.ts'

const shape = (issue: { expected: string | null }) =>
  issue.expected === 'Object' ? 'must be a mapping' : 'is required'
const name = v.pipe(v.string('must be a string'), v.trim(), v.nonEmpty('must not be empty'))

const entry = v.pipe(
  v.object(
    {
      model_name: v.optional(name),
      litellm_params: v.looseObject(
        {
          model: name,
          api_base: v.optional(v.string('must be a string')),
          api_key: v.optional(v.string('must be a string')),
        },
        shape,
      ),
    },
    shape,
  ),
  v.transform(
    (value): ModelListEntry => ({
      model_name: value.model_name ?? value.litellm_params.model,
      litellm_params: value.litellm_params,
    }),
  ),
)

/** The entries of the list. Only `litellm_params.model` is required; without `model_name` it names the entry too. */
export const modelList = v.optional(v.array(entry, 'must be a list'), () => [])

const REFERENCE = /^os\.environ\/(.+)$/

/** The names of the variables to which a value refers as `os.environ/<VARIABLE>`, at any depth. */
export function referencedVariables(value: unknown): string[] {
  if (typeof value === 'string') {
    const name = REFERENCE.exec(value)?.[1]
    return name === undefined ? [] : [name]
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(referencedVariables) : []
}
