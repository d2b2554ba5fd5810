import type { Cloud, Operation } from '../base/vocabulary.ts'
import type { Inference, Message, ModelRole, ToolCall, ToolDefinition } from '../llm/inference.ts'

/** The facts about a session that its spans carry. */
export interface TracedSession {
  uuid: string
  /** The owner's e-mail address, or `user-<id>` without one. */
  username: string
  /** The operation of the session, regardless of this round's mode. It determines the project of the spans. */
  operation: Operation
  provider: Cloud
  workspace: { uri: string; branch: string; root_path: string | null }
}

/** Masks the sensitive values known at the time of the call. */
export interface TextMask {
  text(text: string): string
}

/**
 * Records runs and sends the spans to a collector. Only `close` waits for the collector, and no method throws, so that
 * a run is the same with and without tracing.
 */
export interface Tracing {
  /** Preloads the libraries, so that the first run does not wait for them. */
  warm(): Promise<void>
  session(session: TracedSession): Promise<SessionTrace>
  /** Delivers the pending spans and stops, after at most `limitMs` milliseconds. */
  close(limitMs: number): Promise<void>
}

export interface SessionTrace {
  /** Returns the trace of one run; the texts of a span are masked when it ends. */
  masked(mask: TextMask): RunTrace
}

export interface RunTrace {
  chain(name: string, query: string): ChainTrace
  /** @param input a function if it is known only when the span ends */
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
