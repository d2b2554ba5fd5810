import { createServer } from 'node:http'
import { usageOf } from '../../../../dev/scripted-model/clock.ts'
import { type Conversation, call, type Reply, readConversation } from '../../../../dev/scripted-model/conversation.ts'
import { decide } from '../../../../dev/scripted-model/start.ts'
import { usualDialect } from '../../../../dev/scripted-model/wires.ts'
import { listen, type Running, readBody } from '../../../../dev/server.ts'
import { readHcl } from '../../../../src/hcl/read.ts'

const MODEL = 'oracle'
const MAX_BODY = 64 * 1024 * 1024

/**
 * A model that writes what the next round is to write, and otherwise answers like the scripted one: it accepts the
 * request and names every resource of the code as a target.
 */
export interface Oracle extends Running {
  code: string
  /** The file that holds the code. */
  path: string
}

export async function startOracle(): Promise<Oracle> {
  const state = { code: '', path: '' }
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await readBody(request, MAX_BODY)).toString('utf8')) as Record<string, unknown>
    const question = usualDialect.read(body, request.url ?? '')
    const reply = answer(readConversation(question), state)
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(usualDialect.answer({ reply, usage: usageOf(question, reply), model: MODEL })))
  })
  const running = await listen(server, {})
  return Object.assign(state, running)
}

/** The variables that make a stack ask the oracle. */
export const oracleVariables = (url: string): Record<string, string> => ({
  OPENAI_BASE_URL: `${url}/v1`,
  OPENAI_API_KEY: 'oracle',
  PLATFORM_LLM_MODEL: `openai/${MODEL}`,
  PLATFORM_LLM_SMALL_MODEL: `openai/${MODEL}`,
})

function answer(conversation: Conversation, { code, path }: Pick<Oracle, 'code' | 'path'>): Reply {
  const { tools, steps } = conversation
  if (tools.has('requests_filter'))
    return { calls: [call('requests_filter', { status: true, explanation: 'Acceptable.' })] }
  if (tools.has('report_intent_statements')) return { calls: [call('report_intent_statements', { statements: [] })] }
  if (tools.has('task_complete'))
    return steps.some(({ name }) => name === 'write_to_file')
      ? { calls: [call('task_complete', { status: 'done', summary: 'Wrote it.' })] }
      : { calls: [call('write_to_file', { target_file: path, content: code })] }
  if (tools.has('generate_engine_targets')) {
    const resources = readHcl(code).body.blocks.filter(({ type }) => type === 'resource')
    const targets = resources.map(({ labels }) => labels.join('.'))
    return { calls: [call('generate_engine_targets', { targets, explanation: '' })] }
  }
  return decide(conversation)
}
