import type { Tool } from '../../agent/agent-request.ts'
import type { Logger } from '../../base/log.ts'
import type { Cloud } from '../../base/vocabulary.ts'
import type { ModelRole } from '../../llm/inference.ts'

/** Groups of tools that a chain may be offered. */
export type ToolKind = 'editing' | 'inspection' | 'webSearch' | 'providerSchema' | 'lastPlan'

interface Question<Name extends string, Values, Body extends string> {
  /** Name of the chain in traces and meters. */
  readonly name: Name
  readonly role: ModelRole
  /** Returns the names of prompts by their keys in `system`; a prompt that is null has an empty body. */
  bodies?(cloud: Cloud, values: Values): Record<Body, string | null>
  system(bodies: Record<Body, string>, values: Values): string
  query(values: Values): string
  /** True if the model sees the earlier turns of the session. */
  readonly seesConversation?: true
}

/** A model that works with tools until it calls the result tool: query, tools, and meaning of the result. */
export interface Chain<
  Name extends string,
  Values,
  Answer,
  Result,
  Kind extends ToolKind = never,
  Body extends string = never,
> extends Question<Name, Values, Body> {
  /**
   * Groups of tools beside the result tool, in the order in which the model sees them. Those that most chains have come
   * first, because tools are the beginning of a request and chains of one model then share it in the provider's cache.
   */
  readonly tools?: readonly Kind[]
  /** Creates a new tool for each run, because a tool may remember its refusals. */
  resultTool(): Tool<Answer>
  /** Maximum turns of a run; the configured limit by default. */
  readonly maxTurns?: number
  /** Converts the result of the result tool to that of the chain. */
  read(answer: Answer, reading: Reading<Values>): Result
}

export interface Reading<Values> {
  values: Values
  log: Pick<Logger, 'info' | 'warn'>
  /** Masks sensitive values in words that the user will see. */
  mask(text: string): string
}

/** A model that replies once, with a plain text. */
export type TextChain<Name extends string, Values> = Omit<Question<Name, Values, never>, 'bodies'>

/** Returns its argument; lets the compiler infer and check the types of a chain. */
export const defineChain = <
  const Name extends string,
  Values,
  Answer,
  Result,
  Kind extends ToolKind = never,
  Body extends string = never,
>(
  chain: Chain<Name, Values, Answer, Result, Kind, Body>,
): Chain<Name, Values, Answer, Result, Kind, Body> => chain

export const defineTextChain = <const Name extends string, Values>(
  chain: TextChain<Name, Values>,
): TextChain<Name, Values> => chain
