import type { Cloud, Operation } from '../base/vocabulary.ts'
import type { Inference, Message, ModelRole, ToolCall, ToolDefinition } from '../llm/inference.ts'

/** The facts about a session that its spans carry. */
export interface TracedSession {
  uuid: string
  /** The owner's e-mail address, or `user-<id>` without one. */
  username: string
  /** The operation of the session, whatever this round runs. It determines the project of the spans. */
  operation: Operation
  provider: Cloud
  workspace: { uri: string; branch: string; root_path: string | null }
}

/** Masks the sensitive values that are known at the time of the call. */
export interface TextMask {
  text(text: string): string
}

/**
 * Records runs and sends the spans to a collector. No method but `close` waits for the
 * collector, and none throws, so that a run is the same with and without tracing.
 */
export interface Tracing {
  /** Loads the libraries ahead, so that the first run does not wait for them. */
  warm(): Promise<void>
  session(session: TracedSession): Promise<SessionTrace>
  /** Delivers the spans that still wait and stops, after at most `limitMs` milliseconds. */
  close(limitMs: number): Promise<void>
}

export interface SessionTrace {
  /** The trace of one run; the texts of a span are masked when it ends. */
  masked(mask: TextMask): RunTrace
}

export interface RunTrace {
  chain(name: string, query: string): ChainTrace
  /** @param input a function when it is known only when the span ends */
  engine(kind: EngineSpan, input: string | (() => string)): EngineTrace
}

export type EngineSpan = 'plan' | 'drift' | 'apply'

export interface ChainTrace {
  model(request: { role: ModelRole; messages: readonly Message[]; tools: readonly ToolDefinition[] }): ModelTrace
  tool(call: ToolCall): ToolTrace
  end(result: unknown): void
  fail(error: unknown): void
}

export interface ModelTrace {
  end(reply: Inference): void
  fail(error: unknown): void
}

export interface ToolTrace {
  end(outcome: { success: boolean; content: string }): void
  fail(error: unknown): void
}

export interface EngineTrace {
  end(success: boolean, output: string): void
  fail(error: unknown): void
}
