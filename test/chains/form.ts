import { type DriftReportValues, driftReportWriter } from '../../src/chains/report-writers.ts'
import type { InferenceRequest, Message, ToolDefinition } from '../../src/llm/inference.ts'

export const NO_DRIFT: DriftReportValues = {
  request: '',
  targets: [],
  failure: null,
  remaining: [],
  exclusions: [],
  excepted: [],
  written: [],
  diff: [],
}
/** Writes the query for the report of a drift round that found nothing but these values. */
export const driftReportQuery = (values: Partial<DriftReportValues> = {}): string =>
  driftReportWriter.query({ ...NO_DRIFT, ...values })

/** A part of a golden file: its heading and the text below it, verbatim. */
export type Section = readonly [heading: string, text: string]

/** Joins sections to one text. The random id of each data block is replaced by its number within the section. */
export const renderSections = (sections: readonly Section[]): string =>
  sections.map(([heading, text]) => `@@@ ${heading}\n${withStableIds(text)}\n`).join('\n')

function withStableIds(text: string): string {
  const ids = new Map<string, string>()
  return text.replaceAll(/(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])/g, (id) => {
    const name = ids.get(id) ?? `block-${ids.size + 1}`
    ids.set(id, name)
    return name
  })
}

export const renderDefinition = ({ name, description, parameters }: ToolDefinition): string =>
  `${name}\n${description}\n${JSON.stringify(parameters, null, 2)}`

/** Renders a whole model request without its tool definitions, which have their own golden file. */
export const renderRequest = ({ messages, tools, signal: _, ...rest }: InferenceRequest): string =>
  [
    JSON.stringify(rest),
    `tools: ${tools ? tools.map(({ name }) => name).join(', ') : '(none)'}`,
    ...messages.map((message) => `--- ${message.role}\n${renderMessage(message)}`),
  ].join('\n')

const renderMessage = (message: Message): string =>
  message.role === 'assistant' && message.tool_calls
    ? `${message.content ?? ''}${message.tool_calls.map(({ name, arguments: args }) => `[${name} ${args}]`).join('')}`
    : String(message.content)
