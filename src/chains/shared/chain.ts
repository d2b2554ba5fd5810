import type { Tool } from '../../agent/agent-request.ts'
import type { Logger } from '../../base/log.ts'
import type { Cloud } from '../../base/vocabulary.ts'
import type { ModelRole } from '../../llm/inference.ts'

/** Groups of tools that a chain may be offered. Whoever runs chains builds the tools of each group. */
export type ToolKind = 'editing' | 'inspection' | 'webSearch' | 'providerSchema'

/** The question to a model. */
interface Question<Name extends string, Values, Body extends string> {
  /** Name of the chain in traces and meters. */
  readonly name: Name
  readonly role: ModelRole
  /**
   * Qualified names of the prompts whose bodies stand in the system text, by the keys under which `system` gets them.
   * A prompt that is null for these values is not read, and its body is empty.
   */
  bodies?(cloud: Cloud, values: Values): Record<Body, string | null>
  system(bodies: Record<Body, string>, values: Values): string
  query(values: Values): string
  /** True if the model sees the earlier turns of the session. */
  readonly seesConversation: boolean
}

/**
 * A model that works with tools until it calls the result tool: what it is asked, the tools that it is offered, and
 * what its answer means.
 */
export interface Chain<
  Name extends string,
  Values,
  Answer,
  Result,
  Kind extends ToolKind = never,
  Body extends string = never,
> extends Question<Name, Values, Body> {
  /** The model sees the tools of these groups in this order. */
  tools(values: Values): readonly Kind[]
  /** Makes a new tool for each run, because a tool may remember what it refused. */
  resultTool(): Tool<Answer>
  /** Most turns of a run; by default the limit of the configuration. */
  readonly maxTurns?: number
  /** Turns what the result tool answered into the result that the step works with. */
  read(answer: Answer, reading: Reading<Values>): Result
}

/** The further input of `read`. */
export interface Reading<Values> {
  values: Values
  log: Pick<Logger, 'info' | 'warn'>
  /** Hides sensitive values in words that the user will see. */
  mask(text: string): string
}

/** A model that answers once, with a plain text. */
export type TextChain<Name extends string, Values> = Omit<Question<Name, Values, never>, 'bodies'>

/** Returns its argument; lets the compiler infer the types of a chain and check its parts against each other. */
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
