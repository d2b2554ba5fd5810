import type { Operation } from './document.ts'
import { answerText, exchange, masked, rawExchange } from './http/exchange.ts'
import { deriveSeed } from './schema/generate.ts'
import { findFaults, isRecord } from './schema/schema.ts'
import {
  type Check,
  type Exchange,
  type Finding,
  NoAnswer,
  type Options,
  type Result,
  Skipped,
  type Tester,
} from './types.ts'

const MAX_FINDINGS = 5

/** Runs promises one by one and records whether every answer fitted the document. */
export function createRun(options: Options) {
  const log = new Map<string, { exchanges: Exchange[]; findings: Finding[] }>()

  async function check({ id, promise, run }: Check): Promise<Result> {
    const result: Result = { id, promise, outcome: 'passed', exchanges: 0, findings: [] }
    try {
      await run(createTester(result))
    } catch (error) {
      if (error instanceof Skipped && result.findings.length === 0)
        return { ...result, outcome: 'skipped', reason: error.message }
      if (error instanceof NoAnswer)
        result.findings.push({ why: `no answer: ${error.message}`, request: error.request, answer: '' })
      else if (!(error instanceof Skipped)) throw error
    }
    return { ...result, outcome: result.findings.length === 0 ? 'passed' : 'broken' }
  }

  /** Reports whether all answers of this run fitted the documented ones of the operation. */
  function answers(operation: Operation): Result {
    const { exchanges = [], findings = [] } = log.get(operation.id) ?? {}
    const result = { id: `${operation.id}.answers`, promise: ANSWERS, exchanges: exchanges.length, findings }
    if (exchanges.length === 0) return { ...result, outcome: 'skipped', reason: 'no promise of this run asked it' }
    return { ...result, outcome: findings.length === 0 ? 'passed' : 'broken' }
  }

  function createTester(result: Result): Tester {
    const broken = (why: string, made?: Exchange) => {
      if (result.findings.length < MAX_FINDINGS)
        result.findings.push({
          why: masked(options, why),
          request: made?.request ?? '',
          answer: made ? answerText(options, made) : '',
        })
    }
    const tester: Tester = {
      options,
      contract: options.contract,
      seed: deriveSeed(options.seed, result.id),
      ask: async (operation, call = {}) => {
        result.exchanges++
        const made = await exchange(options, operation.method, pathOf(operation, call.path), call)
        remember(operation, made)
        return made
      },
      send: (method, path, call = {}) => {
        result.exchanges++
        return exchange(options, method, path, call)
      },
      raw: (lines, { cut = false } = {}) => {
        result.exchanges++
        return rawExchange(options.url, lines.join('\r\n'), { cut, limitMs: options.exchangeMs })
      },
      broken,
      expect: (kept, why, made) => {
        if (!kept) broken(why, made)
        return kept
      },
      expectStatus: (made, expected, what = '') => {
        const statuses = [expected].flat()
        const instead = `answered ${made.status} instead of ${statuses.join(' or ')}`
        return tester.expect(statuses.includes(made.status), what === '' ? instead : `${what}: ${instead}`, made)
      },
      expectBody: (made, fits, why) => tester.expect(isRecord(made.json) && fits(made.json), why, made),
      skip: (reason) => {
        throw new Skipped(reason)
      },
      exchangesWith: (operation) => log.get(operation.id)?.exchanges ?? [],
    }
    return tester
  }

  function remember(operation: Operation, made: Exchange): void {
    const known = log.get(operation.id) ?? { exchanges: [], findings: [] }
    log.set(operation.id, known)
    known.exchanges.push({ ...made, text: made.text.slice(0, 4096) })
    for (const why of findUndocumented(operation, made))
      if (known.findings.length < MAX_FINDINGS && !known.findings.some((each) => each.why === why))
        known.findings.push({ why, request: made.request, answer: answerText(options, made) })
  }

  return { check, answers }
}

const ANSWERS = 'Every answer is one that the contract documents: status, content type, required headers, body'
const PLACEHOLDERS: Record<string, string> = { job_id: '00000000-0000-4000-8000-000000000000' }

function pathOf(operation: Operation, values: Record<string, string> = {}): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? PLACEHOLDERS[name] ?? 'conformance'),
  )
}

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
