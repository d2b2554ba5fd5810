import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import type { ReceivedSpan } from '../../../dev/collector/read-spans.ts'
import type { Session } from '../../../dev/demo/api.ts'
import { readTrace, renderTrace, sumSpans } from '../../../dev/demo/trace.ts'
import { interceptRequests } from '../../helpers/intercept.ts'

const span = (name: string, parts: Partial<ReceivedSpan> = {}): ReceivedSpan => ({
  ...{
    project: 'dev-engine-day2',
    resource: {},
    name,
    trace_id: 't',
    span_id: name,
    parent_id: null,
    start_ms: 1_000,
    end_ms: 1_250,
  },
  ...{ status: 'ok', status_message: '', attributes: {}, droppedAttributes: 0 },
  ...parts,
})
const call = (span_id: string, parent_id: string, tokens: [number, number], cost?: number): ReceivedSpan =>
  span('Async Inference', {
    ...{ span_id, parent_id, start_ms: 1_100, end_ms: 1_200 },
    attributes: {
      'llm.token_count.prompt': tokens[0],
      'llm.token_count.completion': tokens[1],
      'llm.model_name': 'openai/x',
      ...(cost !== undefined && { 'llm.cost.total': cost }),
    },
  })
const chain = span('Chain - REPORT_GENERATOR', { span_id: 'chain' })

describe('the tree', () => {
  it('has children below their chain, with durations, tokens and cost, and tells failures in one line', () => {
    const engine = span('Engine plan - False', {
      start_ms: 3_000,
      end_ms: 4_500,
      status: 'error',
      status_message: `│ Error:\n│  ${'x'.repeat(200)}`,
    })
    const lines = renderTrace([chain, call('one', 'chain', [10, 5], 0.0125), engine])
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatch(/^ +0\.000 s {2}Chain - REPORT_GENERATOR +0\.250 s$/)
    expect(lines[1]).toMatch(/^ +0\.100 s {4}Async Inference +0\.100 s {2}10 \+ 5 tokens {2}\$0\.0125 {2}openai\/x$/)
    expect(lines[2]).toMatch(/^ +2\.000 s {2}Engine plan - False +1\.500 s {2}error: Error: x+…$/)
  })

  it('shows a span whose parent was not received', () => {
    expect(renderTrace([call('one', 'lost', [1, 1])])).toHaveLength(1)
  })

  it('adds up, and knows no cost when one call has none', () => {
    const spans = [
      chain,
      call('one', 'chain', [10, 5], 0.5),
      call('two', 'chain', [20, 7], 0.25),
      span('Tool call - x'),
      span('Engine plan - True'),
    ]
    const counts = { spans: 5, model_calls: 2, tool_calls: 1, engine_runs: 1 }
    expect(sumSpans(spans)).toEqual({ ...counts, input_tokens: 30, output_tokens: 12, cost_usd: 0.75 })
    expect(sumSpans([...spans, call('three', 'chain', [1, 1])]).cost_usd).toBeNull()
  })
})

describe('reading', () => {
  const server = interceptRequests()
  const session = {
    uuid: 'session-1',
    rounds: [{ usage: { engine_s: 0, model_s: 0, validation_attempts: 1, input_tokens: 10, output_tokens: 5 } }],
  } as Session

  it('waits for all tokens of the rounds, and for the chain that wrote the pull request', async () => {
    const writer = span('Chain - PR_GENERATOR', { span_id: 'writer' })
    const states = [[chain], [chain, call('one', 'chain', [10, 5])], [chain, call('one', 'chain', [10, 5]), writer]]
    let asked = 0
    server.use(
      http.get('http://collector/v1/sessions/session-1/spans', ({ request }) => {
        expect(request.headers.get('authorization')).toBe('Bearer of the stack')
        return HttpResponse.json({ data: states[asked++] })
      }),
    )
    const options = { token: 'of the stack', pull_request: true, signal: new AbortController().signal }
    expect(await readTrace('http://collector/', session, options)).toHaveLength(3)
    expect(asked).toBe(3)
  })
})
