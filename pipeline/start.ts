import { ConfigError, loadConfig } from '../config/load.ts'
import { secretsOf } from '../config/mask.ts'
import type { Config } from '../config/types.ts'
import { createGate } from '../src/base/gate.ts'
import type { Logger } from '../src/base/log.ts'
import type { Context } from '../src/context.ts'
import { startWorkingQueue } from '../src/data/queue.ts'
import { checkStateKeys } from '../src/data/storage/state-keys.ts'
import { isPriced } from '../src/llm/prices.ts'
import { notifyOfEvent } from '../src/notifications/notify.ts'
import { startCancelWatch } from '../src/rounds/cancel.ts'
import { shortenLeases } from '../src/rounds/transitions.ts'
import { readRuleIds } from '../src/rules/ids.ts'
import { type BootedProcess, bootProcess, readMetricsAddress, runEntry } from '../src/runtime/boot.ts'
import { createRecordingWriter, readTextFile } from '../src/runtime/files.ts'
import { startLeaseGuard } from '../src/runtime/lease-guard.ts'
import { clonesAtOnce, roundsThatFit } from '../src/runtime/worker-size.ts'
import type { RoundRecorder } from './kit/recording.ts'
import type { Modes } from './kit/run.ts'
import type { RoundFrame } from './run-round.ts'
import { startSweeper } from './sweeper.ts'
import { adoptSharedMode } from './workspace/files/private-files.ts'
import { configureGit } from './workspace/git/settings.ts'

const HELP = `The worker: takes rounds from the queue and runs them.

  npm run worker              start
  npm run worker -- --help    this text

Needs git on PATH and a disk that the iac sidecar shares (paths.upload_folder).

Environment
  PLATFORM_CONFIG   path of the configuration file (default /etc/platform/config.yaml)
  PLATFORM_METRICS_PORT   port of GET /metrics (unset: none)
  PLATFORM_METRICS_HOST   its address (default 127.0.0.1)
Further variables are named by the configuration file; npm run core -- --check-config shows what it says.
`

export const start = (): Promise<void> => runEntry(main)

async function main(): Promise<void> {
  const argument = process.argv[2]
  if (argument === '--help' || argument === '-h') return console.log(HELP)
  if (argument !== undefined) throw new ConfigError([`unknown argument ${argument}; see --help`])
  const config = await loadConfig(process.env, readTextFile, readRuleIds, isPriced)
  await bootProcess('worker', config, readMetricsAddress(process.env), (booted) => openWorker(config, booted))
}

async function openWorker(config: Config, { context, log, phases, metricsUrl }: BootedProcess): Promise<void> {
  if (metricsUrl) log.info('metrics', { address: metricsUrl })
  if (await adoptSharedMode(config.paths.upload_folder))
    log.info('the upload folder is shared with its group: files of clones are made for that group')
  const [warning, recorder] = await Promise.all([
    checkStateKeys(config.storage, context.stateKeys),
    openRecorder(config, log),
    configureGit(config, log),
  ])
  if (warning !== null) log.warn(warning)
  const guard = startLeaseGuard(config.database.url, log)
  const clones = createGate({ atOnce: clonesAtOnce(), ...CLONES })
  const worker = await startWorker(context, () => loadModes(context), {
    holdLease: guard.hold,
    openWorkspace: async (round, options) => {
      const { beginWorkspace } = await import('./workspace/open.ts')
      const open = () => beginWorkspace(config, round, { ...options, resolver: context.resolver })
      return await clones.run(open, options.signal)
    },
    notifyFailure: (session, { round, message }) =>
      notifyOfEvent(context, session, 'system.exception.failure', { round, body: message }),
    recorder,
  })
  const sweeper = startSweeper(context)
  phases.unshift(
    { name: 'cleaning', limitMs: 100, end: async () => sweeper.stop() },
    { name: 'rounds', limitMs: 8_000, end: () => worker.stop() },
    { name: 'leases', limitMs: 100, end: guard.close },
  )
}

/** Loads the modes, and the libraries that the first call of a model and the first span would wait for. */
async function loadModes({ llm, tracing }: Context): Promise<Modes> {
  const [{ modes }] = await Promise.all([import('./modes/index.ts'), llm.warm?.(), tracing?.warm()])
  return modes
}

async function openRecorder(config: Config, log: Logger): Promise<RoundRecorder | undefined> {
  const { record_folder } = config.llm
  if (record_folder === '') return undefined
  const { createRoundRecorder } = await import('./kit/recording.ts')
  return createRoundRecorder({ write: createRecordingWriter(record_folder), log, secrets: secretsOf(config) })
}

/** Rounds wait for their clone in any number: the worker has taken no more than it can hold. */
const CLONES = {
  waiting: Number.POSITIVE_INFINITY,
  waitMs: 3_600_000,
  busy: 'the worker was busy with other clones for an hour.',
}

/** The sum is below the ten seconds that container runtimes grant a process to stop. */
const STOP_LIMITS = { finishMs: 4_000, handBackMs: 3_000 }

/**
 * Runs waiting rounds, `worker.concurrency` at a time or as many as fit, until it is stopped. What runs them is loaded
 * with the first one, because an idle worker does without its memory.
 */
export async function startWorker(
  context: Context,
  loadModes: () => Promise<Modes>,
  frame: RoundFrame,
  limits: { finishMs: number; handBackMs: number } = STOP_LIMITS,
) {
  const concurrency = context.config.worker.concurrency || roundsThatFit()
  const cancellations = await startCancelWatch(context.sql, context.log)
  const queue = await startWorkingQueue(context.sql, context.log, {
    concurrency,
    beforeLook: () => shortenLeases(context.sql),
    handle: async (roundId, signal) => {
      try {
        const [{ runRound }, modes] = await Promise.all([import('./run-round.ts'), loadModes()])
        await runRound(context, roundId, modes, signal, { ...frame, cancellations })
      } catch (error) {
        context.log.error('a round could not be run', { round_id: roundId, error })
        throw error
      }
    },
  })
  context.log.info('worker ready', { concurrency })
  return {
    /** Claims no more rounds, gives running ones 4 s to finish and releases the rest. */
    stop: async () => {
      await queue.stop(limits)
      await cancellations.close()
    },
  }
}
