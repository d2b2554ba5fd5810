import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import type { Block } from './blocks.ts'
import type { Assembler, StreamSink } from './wire.ts'

/**
 * Assembles an answer of the Converse API from its events, each `{<type>: <content>}`. An error event is the answer
 * itself. Source: `ConverseStreamOutput` of the API reference of Amazon Bedrock Runtime.
 */
export function createConverseAssembler(sink: StreamSink): Assembler {
  let failed: JsonObject | null = null
  let isOurs = false
  let stopReason = ''
  let usage: unknown
  const blocks = new Map<unknown, StreamedBlock>()
  const blockAt = ({ contentBlockIndex: index }: JsonObject): StreamedBlock => {
    const block = blocks.get(index) ?? { text: '', thought: '', signature: '', redacted: '', call: null }
    blocks.set(index, block)
    return block
  }
  return {
    add: (event) => {
      if (failed || !isJsonObject(event)) return
      if (isJsonObject(event.error)) failed = event
      const { messageStart, contentBlockStart, contentBlockDelta, contentBlockStop, messageStop, metadata } = event
      if (isJsonObject(messageStart)) isOurs = true
      if (isJsonObject(contentBlockStart)) sink.text(beginBlock(blockAt(contentBlockStart), contentBlockStart))
      if (isJsonObject(contentBlockDelta)) sink.text(appendDelta(blockAt(contentBlockDelta), contentBlockDelta))
      if (isJsonObject(contentBlockStop)) {
        const { call } = blockAt(contentBlockStop)
        if (call) sink.call({ name: call.name, arguments: JSON.stringify(inputOf(call)) })
      }
      if (isJsonObject(messageStop)) stopReason = textOf(messageStop.stopReason)
      if (isJsonObject(metadata)) usage = metadata.usage
    },
    answer: () => {
      if (failed || !isOurs) return failed
      const content = [...blocks].sort(([a], [b]) => Number(a) - Number(b)).map(([, block]) => wholeBlock(block))
      return { output: { message: { role: 'assistant', content } }, stopReason, usage }
    },
    isEnded: () => failed !== null || stopReason !== '',
  }
}

interface StreamedBlock {
  text: string
  thought: string
  signature: string
  /** Encrypted thoughts, in base64. */
  redacted: string
  call: { id: string; name: string; input: string } | null
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Begins a block; only that of a call says more than its place. Returns what the model wrote. */
function beginBlock(block: StreamedBlock, { start }: JsonObject): string {
  const call = isJsonObject(start) ? start.toolUse : null
  if (!isJsonObject(call)) return ''
  block.call = { id: textOf(call.toolUseId), name: textOf(call.name), input: '' }
  return block.call.name
}

/** Adds a delta to its block and returns what the model wrote in it. */
function appendDelta(block: StreamedBlock, { delta }: JsonObject): string {
  if (!isJsonObject(delta)) return ''
  const text = textOf(delta.text)
  const thought = isJsonObject(delta.reasoningContent) ? delta.reasoningContent : {}
  const input = isJsonObject(delta.toolUse) ? textOf(delta.toolUse.input) : ''
  block.text += text
  block.thought += textOf(thought.text)
  block.signature += textOf(thought.signature)
  block.redacted += textOf(thought.redactedContent)
  if (block.call) block.call.input += input
  return text + textOf(thought.text) + input
}

/** Returns a block as an answer that comes whole has it. */
function wholeBlock(block: StreamedBlock): Block {
  const { call, thought: text, signature, redacted } = block
  if (call) return { toolUse: { toolUseId: call.id, name: call.name, input: inputOf(call) } }
  if (redacted !== '') return { reasoningContent: { redactedContent: redacted } }
  if (text === '' && signature === '') return { text: block.text }
  return { reasoningContent: { reasoningText: { text, ...(signature !== '' && { signature }) } } }
}

const inputOf = ({ input }: { input: string }): unknown => parseJson(input || '{}') ?? { invalid_arguments: input }
