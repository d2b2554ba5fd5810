import * as v from 'valibot'
import { isRecord } from './types.ts'

const startSchema = v.object({ type: v.literal('message_start'), message: v.looseObject({}) })
const blockSchema = v.object({
  type: v.literal('content_block_start'),
  index: v.number(),
  content_block: v.looseObject({}),
})
const deltaSchema = v.object({ type: v.literal('content_block_delta'), index: v.number(), delta: v.looseObject({}) })
const endSchema = v.object({
  type: v.literal('message_delta'),
  delta: v.looseObject({}),
  usage: v.nullish(v.record(v.string(), v.unknown()), {}),
})

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A message out of the events of its stream; null when they begin with none, the event of an error as it is. */
export function assembleMessages(events: readonly unknown[]): unknown {
  const failed = events.find((event) => isRecord(event) && event.type === 'error')
  if (failed) return failed
  const start = events.map((event) => v.safeParse(startSchema, event)).find((parsed) => parsed.success)
  if (!start) return null
  const message: Record<string, unknown> = { ...start.output.message }
  const blocks = new Map<number, Record<string, unknown>>()
  const inputs = new Map<number, string>()
  for (const event of events) {
    const opened = v.safeParse(blockSchema, event)
    if (opened.success) blocks.set(opened.output.index, { ...opened.output.content_block })
    const delta = v.safeParse(deltaSchema, event)
    if (delta.success) extend(blocks.get(delta.output.index), delta.output.delta, inputs, delta.output.index)
    const end = v.safeParse(endSchema, event)
    if (end.success) {
      Object.assign(message, end.output.delta)
      message.usage = { ...(isRecord(message.usage) ? message.usage : {}), ...end.output.usage }
    }
  }
  for (const [index, json] of inputs) Object.assign(blocks.get(index) ?? {}, { input: parsed(json) })
  return { ...message, content: [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block) }
}

function extend(
  block: Record<string, unknown> | undefined,
  delta: Record<string, unknown>,
  inputs: Map<number, string>,
  index: number,
): void {
  if (!block) return
  if (delta.type === 'input_json_delta') inputs.set(index, (inputs.get(index) ?? '') + text(delta.partial_json))
  for (const key of ['text', 'thinking', 'signature'])
    if (typeof delta[key] === 'string') block[key] = text(block[key]) + delta[key]
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json || '{}')
  } catch {
    return { invalid_arguments: json }
  }
}
