import type { Cloud, Operation } from '../base/vocabulary.ts'
import type { Inference, Message, ModelRole, ToolCall, ToolDefinition } from '../llm/types.ts'

/** What identifies the spans of a session. */
export interface TracedSession {
  uuid: string
  /** Owner's e-mail, else `user-<id>`. */
  username: string
  /** Of the session, whatever the round runs: chooses the project. */
  operation: Operation
  provider: Cloud
  workspace: { uri: string; branch: string; root_path: string | null }
}

/** Hides what must not be seen, as known at the time of the call. */
export interface TextMask {
  text(text: string): string
}

/**
 * Records what runs do and hands it to a collector (contract, section 14). Nothing here ever throws, waits
 * for the collector or is felt by a run.
 */
export interface Tracing {
  /** Loads what recording needs, so that the first run does not wait for it. */
  warm(): Promise<void>
  session(session: TracedSession): Promise<SessionTrace>
  /** Hands over what is waiting and stops; gives up after `limitMs`. */
  close(limitMs: number): Promise<void>
}

export interface SessionTrace {
  /** The trace of one run, every text of it masked when its span ends. */
  masked(mask: TextMask): RunTrace
}

export interface RunTrace {
  chain(name: string, query: string): ChainTrace
  engine(kind: EngineSpan, input: string): EngineTrace
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
