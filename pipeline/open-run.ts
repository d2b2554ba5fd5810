import { maskedSecretsOf } from '../config/mask.ts'
import type { AgentEvent } from '../src/agent/agent-request.ts'
import { RoundCancelled } from '../src/base/errors.ts'
import { createMasker } from '../src/base/masking.ts'
import type { ChainName } from '../src/chains/index.ts'
import type { Context } from '../src/context.ts'
import type { ObjectStore } from '../src/data/storage/object-store.ts'
import { type EventLog, openEventLog } from '../src/events/event-log.ts'
import { createPricing } from '../src/llm/prices.ts'
import type { Claim } from '../src/rounds/claim.ts'
import { emptyResult } from '../src/rounds/round-result.ts'
import { appendStatus } from '../src/rounds/transitions.ts'
import { countSessionTokens } from '../src/sessions/find.ts'
import { createMeter, type Meter } from './kit/meter.ts'
import { createModelOpener, createTokenBudget } from './kit/models.ts'
import type { RecordedRound } from './kit/recording.ts'
import type { RoundRecording } from './kit/round-recorder.ts'
import type { BareRun, RoundMode } from './kit/run.ts'

/** The signals that end an attempt at a round, and its recorders. */
export interface AttemptFrame {
  /** Fires when the lease is lost or the worker stops. */
  held: AbortSignal
  /** Fires with `RoundCancelled`. */
  cancelled: AbortSignal
  recording: RoundRecording | undefined
  eventLog: EventLog
}

export async function openRun(context: Context, claim: Claim, mode: RoundMode, frame: AttemptFrame): Promise<BareRun> {
  const { held, cancelled, recording, eventLog } = frame
  const meter = createMeter({ price: createPricing(context.config.llm.prices) })
  const { llm, ...runContext } = context
  const run: BareRun = {
    context: { ...runContext, storage: watchUploads(context.storage, eventLog) },
    openModel: createModelOpener(llm, recording),
    round: claim,
    conversation: [...claim.history],
    result: emptyResult(),
    log: context.log,
    signal: mode.workspace ? AbortSignal.any([held, cancelled]) : held,
    cancellation: { signal: cancelled, held, jobs: new Set() },
    meter,
    setStatus: (status, message) => {
      recording?.addStatus(status)
      return appendStatus(context.sql, claim, status, message)
    },
    observe: createObserver(meter, eventLog),
    eventLog,
    trace: await context.tracing?.session(claim.session),
    recording,
  }
  announceCancellation(run)
  return run
}

/** Records in log and event log that the round was cancelled. */
function announceCancellation({ cancellation, log, eventLog }: BareRun): void {
  const announce = () => {
    const reason: unknown = cancellation?.signal.reason
    if (!(reason instanceof RoundCancelled)) return
    log.info('round is cancelled', { by: reason.by })
    eventLog.activity({ type: 'round.cancelling', by: reason.by })
  }
  if (cancellation?.signal.aborted) announce()
  else cancellation?.signal.addEventListener('abort', announce, { once: true })
}

/** Opens the event log of an attempt, in which the secrets of the configuration are masked from the start. */
export const openRoundEventLog = ({ sql, log, config }: Context, claim: Claim): EventLog =>
  openEventLog(sql, claim, { log, mask: createMasker(maskedSecretsOf(config)).text })

export function toRecordedRound({ config, now }: Context, claim: Claim): RecordedRound {
  const { session } = claim
  return {
    session: session.uuid,
    round: claim.number,
    attempt: claim.attempt,
    mode: claim.mode,
    is_partial: claim.is_partial,
    ...(claim.preview && { preview: true }),
    query: claim.query,
    repository: session.workspace.uri,
    iac_path: session.workspace.root_path,
    scope_id: session.scope_id,
    provider: session.provider,
    models: { main: config.llm.model, small: config.llm.small_model },
    recorded_at: now().toISOString(),
  }
}

/** Creates the token budget, null without a limit. A resumed apply may exceed it, since its result is reported. */
export async function openBudget({ config, sql }: Context, claim: Claim, eventLog: EventLog) {
  const limit = config.llm.max_session_tokens
  if (limit === 0) return null
  const budget = createTokenBudget(limit, await countSessionTokens(sql, claim.session.id), (tokens) =>
    eventLog.activity({ type: 'budget.spent', tokens, limit }),
  )
  if (claim.mode !== 'apply' || claim.attempt === 1) budget.check()
  return budget
}

/** Creates `BareRun.observe`: every event is metered, and tool calls are added to the event log. */
export const createObserver =
  (meter: Pick<Meter, 'observe'>, eventLog: EventLog) =>
  (event: AgentEvent<ChainName>): void => {
    meter.observe(event)
    if (event.type !== 'tool') return
    eventLog.activity({
      type: 'tool.called',
      chain: event.chain,
      tool: event.name,
      path: event.path ?? null,
      outcome: event.success ? 'ok' : 'refused',
      seconds: Math.round(event.durationMs) / 1000,
    })
  }

/** Keys of a round's objects, `sessions/<session>/rounds/<round>/<folder>/<name>`. */
const OF_ROUND = /^sessions\/[^/]+\/rounds\/[^/]+\/([^/]+)\/(.+)$/

/** Wraps the store so that each stored object of a round is added to the event log. */
export const watchUploads = (storage: ObjectStore, eventLog: EventLog): ObjectStore => ({
  ...storage,
  put: async (key, body, options) => {
    const bytes = await storage.put(key, body, options)
    const [, kind, name] = OF_ROUND.exec(key) ?? []
    if (kind && name) eventLog.activity({ type: 'artifact.uploaded', kind, name, bytes })
    return bytes
  },
})

/** Counts the lines that a file change adds and removes. */
export function countLines(change: { new_file: boolean; content: string }): { added: number; removed: number } {
  const lines = change.content.replace(/\n$/, '').split('\n')
  if (change.new_file) return { added: change.content === '' ? 0 : lines.length, removed: 0 }
  // The lines before the first hunk name the files.
  const hunks = lines.slice(lines.findIndex((line) => line.startsWith('@@')) + 1)
  const count = (sign: string) => hunks.filter((line) => line.startsWith(sign)).length
  return { added: count('+'), removed: count('-') }
}
