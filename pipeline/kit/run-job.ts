import { canonicalRepository } from '../../src/plan/state/managed-state.ts'
import { basePath } from '../../src/repository/address.ts'
import { isConfiguredHost, remoteUrl } from '../../src/repository/remote.ts'
import { gitUser } from '../../src/repository/sign-in.ts'
import type { EngineResult, EngineRoot, IacJobKind, IacJobs } from '../../src/services/iac/contract.ts'
import type { BareRun } from './run.ts'
import { stopJob } from './stop-jobs.ts'

/**
 * Runs an engine job. When the round is cancelled, asks the service to stop the job and waits for it, so that the state
 * lock is released before the round ends. Errors: those of `IacClient.run`; `RoundCancelled`, also when the job still
 * succeeded.
 */
export async function runJob<Kind extends IacJobKind>(
  run: BareRun,
  kind: Kind,
  body: IacJobs[Kind],
  onSubmitted: (jobId: string) => Promise<void> = async () => {},
): Promise<EngineResult> {
  const { cancellation, context } = run
  const named = { ...body, ...nameRepository(run), ...(kind === 'init' ? await lendHostToken(run) : {}) }
  if (!cancellation) return await context.iac.run(kind, named, { signal: run.signal, onSubmitted })
  const { signal: cancelled, held, jobs } = cancellation
  cancelled.throwIfAborted()
  const limit = new AbortController()
  let jobId: string | null = null
  const stop = async () => {
    if (jobId !== null) await stopJob(run, jobId, kind, limit)
  }
  const onCancel = () => void stop()
  cancelled.addEventListener('abort', onCancel, { once: true })
  const job = context.iac.run(kind, named, {
    signal: AbortSignal.any([held, limit.signal]),
    onSubmitted: async (id) => {
      jobId = id
      await onSubmitted(id)
      if (cancelled.aborted) void stop()
    },
  })
  const settled = job.catch(() => {})
  jobs.add(settled)
  try {
    return await job
  } finally {
    cancelled.removeEventListener('abort', onCancel)
    jobs.delete(settled)
    limit.abort()
    if (!held.aborted) cancelled.throwIfAborted()
  }
}

/** Names the repository of a round, because the operator of the iac service may allow programs by repository. */
export const nameRepository = ({ round }: Pick<BareRun, 'round'>): Pick<EngineRoot, 'repository'> => ({
  repository: canonicalRepository(round.session.workspace.uri),
})

/**
 * Lends the token of the session's own host for modules that lie there, to an iac service that offers to take it. A
 * server below a path shares its host with others, which would get the token too, so nothing is lent there.
 */
async function lendHostToken({
  context,
  round,
  signal,
}: BareRun): Promise<Pick<IacJobs['init'], 'module_credentials'>> {
  const { git } = context.config
  const url = remoteUrl(git, round.session.workspace.uri)
  if (!isConfiguredHost(git, url) || basePath(git) !== '' || git.user === '' || git.token === '') return {}
  const offered = await context.iac.offers?.('module_credentials', signal).catch(() => false)
  return offered ? { module_credentials: { origin: url.origin, user: gitUser(git), token: git.token } } : {}
}
