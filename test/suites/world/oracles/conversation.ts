import type { Message, ToolDefinition } from '../../../../src/llm/inference.ts'

/** One conversation that every provider is told by both sides. */
export const MODEL_SETTINGS = { max_output_tokens: 4_321, temperature: 0.25 }
export const SYSTEM = 'You write infrastructure as code.'
export const QUESTION = 'Which files are there, and what is in main.tf? – “Grüße”'
export const TOOLS: ToolDefinition[] = [
  {
    name: 'read_file',
    description: 'Reads a file.',
    parameters: {
      type: 'object',
      properties: { target_file: { type: 'string' }, lines: { type: 'array', items: { type: 'integer' } } },
      required: ['target_file'],
    },
  },
  { name: 'list_files', description: 'Lists files.', parameters: { type: 'object', properties: {} } },
]
/** The model's first turn: a text and two calls side by side. The ids are of the form that Mistral requires. */
export const SAID = 'I look at both.'
export const CALLS = [
  { id: 'abc000001', name: 'read_file', args: { target_file: 'main.tf', lines: [1, 20] } },
  { id: 'abc000002', name: 'list_files', args: {} },
]
export const RESULTS = ['resource "null_resource" "a" {}', '["main.tf"]']

export const OPENING: Message[] = [
  { role: 'system', content: SYSTEM },
  { role: 'user', content: QUESTION },
]

/** An answer as either side has read it. */
export interface Understood {
  text: string
  calls: { name: string; args: unknown }[]
  /** Why it ended, in the words of `src/llm`; null for reasons that it has no word for. */
  finish: string | null
  /** Tokens of the prompt, whether cached or not. */
  input: number
  cached: number
  output: number
}
