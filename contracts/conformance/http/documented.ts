import type { Operation } from '../document.ts'
import { findFaults, isRecord } from '../schema/schema.ts'
import type { Exchange } from '../types.ts'

/** Lists the parts of an answer that the operation does not document; empty when the answer fits. */
export function findUndocumented(operation: Operation, { status, headers, text, json }: Exchange): string[] {
  const where = `${operation.method} ${operation.path}`
  const answer = operation.answers[status]
  if (!answer) return [`status ${status} is not documented for ${where}`]
  const found: string[] = []
  for (const [name, header] of Object.entries(answer.headers)) {
    const value = headers.get(name)
    if (value !== null) found.push(...findFaults(header.schema, value, `the header ${name} of a ${status}`))
    else if (header.required) found.push(`a ${status} has no header ${name}`)
  }
  if (!answer.content) return text === '' ? found : [...found, `a ${status} has a body`]
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  const media = answer.content[type] ?? answer.content['*/*']
  if (!media)
    return [
      ...found,
      `a ${status} has the content type '${type}' instead of ${Object.keys(answer.content).join(' or ')}`,
    ]
  if (!/json$/.test(type)) return found
  if (json === undefined) return [...found, `the body of a ${status} is no JSON`]
  found.push(...findFaults(media.schema, json, `the body of a ${status}`))
  if (type === 'application/problem+json' && isRecord(json) && json.status !== status)
    found.push(`the problem of a ${status} says status ${JSON.stringify(json.status)}`)
  return found
}
