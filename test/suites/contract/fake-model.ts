import type { Running, ServerAnswer, ServerRequest } from '../../../dev/server.ts'
import { jsonOf, startFake } from './http.ts'

/** Tools that end a chain. */
export const SENTINELS = [
  'requests_filter',
  'construct_information',
  'task_complete',
  'generate_engine_targets',
  'report_decomposed_task_operations',
  'import_addresses',
  'report_compliance_findings',
  'generate_pull_request',
  'generate_engine_plan_report',
  'generate_engine_drift_report',
  'generate_engine_apply_report',
  'generate_engine_import_report',
] as const
export type Sentinel = (typeof SENTINELS)[number]

interface Message {
  role: string
  content: string | null
  tool_calls?: unknown[]
}
export interface Call {
  path: string
  authorization: string | undefined
  model: string
  tools: string[]
  /** The contract's tool among them; null for plain text and for tools outside the contract. */
  sentinel: Sentinel | null
  messages: Message[]
  parameters: Record<string, unknown>
  /** Number of the call of this sentinel, from 1. */
  number: number
  text: string
}
export type Arguments = Record<string, unknown>
/** Arguments of the sentinel, other calls, or a whole answer. */
export type Reply =
  | Arguments
  | { calls: [name: string, args: Arguments][] }
  | { status: number; error: string }
  | { finish: string | null; text: string }

interface Behaviour {
  calls: Call[]
  /** Answers by sentinel. The default is a good answer. */
  on: Partial<Record<Sentinel, (call: Call) => Reply | undefined>>
  /** The answer to chains outside the contract. */
  unknown: 'nonsense' | 'refused' | 'broken' | 'silent' | 'filled'
  with_usage: boolean
}
export interface FakeModel extends Running, Behaviour {
  of(sentinel: Sentinel | null): Call[]
  /** Lists calls of splitter, drift filters and import filter, which share a sentinel. Their other tools differ. */
  decomposed(kind: 'splitter' | 'reconciliation' | 'sole'): Call[]
  reset(): void
}

const atFirst = (): Behaviour => ({ calls: [], on: {}, unknown: 'nonsense', with_usage: false })

export const GENERATE_REPORT = {
  summary: { create: 1, update: 0, delete: 0, recreate: 0 },
  detailed_changes: [{ name: 'aws_s3_bucket.logs', action: 'create', notes: 'n', summary: 's', details: 'd' }],
  potential_impact: {
    banner: { level: 'low', title: 'Little happens', description: 'One bucket.' },
    summary: 'A bucket more.',
    bullet_points: [{ title: 'Storage', description: 'A bucket.' }],
  },
  estimated_costs: {
    currency: 'USD',
    total_fixed_monthly_cost: 1.5,
    introduction_paragraph: 'Little.',
    breakdown: [{ resource_type: 'aws_s3_bucket', pricing_model: 'usage_based', fixed_monthly_cost: 0, notes: '' }],
  },
}

const USUAL: Record<Sentinel, (call: Call) => Reply> = {
  requests_filter: () => ({ status: true, explanation: 'A request for infrastructure.' }),
  construct_information: () => ({ templates: [], abbreviations: [], explanation: 'Nothing needed.' }),
  task_complete: ({ messages, tools }) =>
    messages.at(-1)?.role === 'tool' || !tools.includes('write_to_file')
      ? { status: 'done', summary: 'Wrote the bucket.' }
      : {
          calls: [
            [
              'write_to_file',
              { target_file: 'logs.tf', content: `# ${crypto.randomUUID()}\nresource "aws_s3_bucket" "logs" {}\n` },
            ],
          ],
        },
  generate_engine_targets: () => ({ targets: [], explanation: 'Everything.' }),
  report_decomposed_task_operations: () => ({ operations: ['Do what is needed.'], explanation: 'One operation.' }),
  import_addresses: () => ({ status: 'done', summary: 'None.', imports: [] }),
  report_compliance_findings: () => ({ violations: [], summary: 'All rules hold.', checked_rules: ['scope_exceeded'] }),
  generate_pull_request: () => ({ title: 'Add a bucket', description: 'A bucket for logs.' }),
  generate_engine_plan_report: () => GENERATE_REPORT,
  generate_engine_drift_report: () => ({
    summary: 'Drift was looked at.',
    status: 'Succeeded',
    remediated_resources: [],
    unreconciled_drift: [],
    whitelisted_exceptions: [],
  }),
  generate_engine_apply_report: () => ({
    summary: { total_resources: 1, created: 1, updated: 0, destroyed: 0, failed: 0 },
    status: 'Success',
    execution_summary: 'Applied.',
    resource_changes: [],
    recommendations: [],
  }),
  generate_engine_import_report: () => ({
    summary: { selected: 1, imported: 1, failed: 0 },
    status: 'Succeeded',
    execution_summary: 'Imported.',
    imported_resources: [],
    excluded_resources: [],
    state_alignment: 'Aligned.',
    recommendations: [],
  }),
}

/** Starts a chat-completions server that knows only the contract's chains. */
export async function startFakeModel(): Promise<FakeModel> {
  const failure = (status: number, message: string): ServerAnswer => ({ status, body: { error: { message } } })
  const respond = async (request: ServerRequest): Promise<ServerAnswer> => {
    const body = (await jsonOf(request)) as Record<string, unknown>
    if (!request.path.endsWith('/chat/completions')) return failure(404, `no ${request.path}`)
    const { model, messages, tools, ...parameters } = body
    if ('max_completion_tokens' in body) return failure(400, 'Unsupported parameter: max_completion_tokens')
    const names = ((tools ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name)
    const sentinel = SENTINELS.find((name) => names.includes(name)) ?? null
    const call: Call = {
      path: request.path,
      authorization: request.headers.authorization,
      model: String(model),
      tools: names,
      sentinel,
      messages: messages as Message[],
      parameters,
      number: fake.of(sentinel).length + 1,
      text: JSON.stringify(messages),
    }
    fake.calls.push(call)
    const complete = (message: object, finish_reason: string | null): ServerAnswer => ({
      status: 200,
      body: {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model,
        choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
        ...(fake.with_usage && { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
      },
    })
    if (names.length === 0) return complete({ content: 'Working on it.' }, 'stop')
    if (sentinel === null) {
      if (fake.unknown === 'refused') return failure(400, 'unknown tool')
      if (fake.unknown === 'silent') return new Promise(() => {})
      if (fake.unknown === 'filled') return complete({ tool_calls: filledCalls(tools) }, 'tool_calls')
      if (fake.unknown === 'broken') return failure(500, 'no scenario for this tool')
      return complete({ content: 'I do not know this tool.' }, 'stop')
    }
    const reply = fake.on[sentinel]?.(call) ?? USUAL[sentinel](call)
    if ('error' in reply && typeof reply.status === 'number') return failure(reply.status, String(reply.error))
    if ('finish' in reply) return complete({ content: reply.text }, reply.finish as string | null)
    const calls =
      'calls' in reply ? (reply.calls as [string, Arguments][]) : ([[sentinel, reply]] as [string, Arguments][])
    const tool_calls = calls.map(([name, args], index) => ({
      id: `call_${index}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }))
    return complete({ tool_calls }, 'tool_calls')
  }
  const fake: FakeModel = {
    ...(await startFake(respond)),
    ...atFirst(),
    of: (sentinel) =>
      fake.calls.filter((call) => call.sentinel === sentinel && (sentinel !== null || call.tools.length > 0)),
    decomposed: (kind) =>
      fake.of('report_decomposed_task_operations').filter(({ tools, model }) => {
        const found = model === 'main-model' ? 'splitter' : tools.length > 1 ? 'reconciliation' : 'sole'
        return found === kind
      }),
    reset: () => void Object.assign(fake, atFirst()),
  }
  return fake
}

interface Schema {
  type?: string
  enum?: unknown[]
  properties?: Record<string, Schema>
  items?: Schema
}

/** Calls every tool with a value for each of its parameters. */
const filledCalls = (tools: unknown) =>
  (tools as { function: { name: string; parameters: Schema } }[]).map(({ function: { name, parameters } }, index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(filled(parameters)) },
  }))

function filled(schema: Schema): unknown {
  if (schema.enum) return schema.enum[0]
  if (schema.type === 'object')
    return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, inner]) => [key, filled(inner)]))
  if (schema.type === 'array') return [filled(schema.items ?? {})]
  return schema.type === 'boolean' ? true : schema.type === 'string' || schema.type === undefined ? 'example' : 1
}
