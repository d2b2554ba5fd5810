import { maskedSecretsOf } from '../../config/mask.ts'
import { type Tool, ToolError } from '../../src/agent/agent-request.ts'
import { MASKED_SECRET } from '../../src/base/mask-secrets.ts'
import { MASK } from '../../src/base/masking.ts'
import type { ToolKind } from '../../src/chains/shared/chain.ts'
import { declaredBlocksIn, isCode, isReadme } from '../../src/chains/shared/declared-blocks.ts'
import type { RepositoryFile, RepositorySurvey } from '../../src/chains/shared/repository.ts'
import type { ToolBuilders } from '../../src/chains/shared/run-chain.ts'
import { notifyOfEvent } from '../../src/notifications/notify.ts'
import { planCounts } from '../../src/plan/planned-changes.ts'
import { createSecretRegister, type SecretRegister } from '../../src/plan/sensitive.ts'
import { findLastReview, type LastReview, readReviewDocuments } from '../../src/reports/last-review.ts'
import { fileTools } from '../tools/edit.ts'
import { lastPlanTool } from '../tools/last-plan.ts'
import { inspectionTools } from '../tools/look.ts'
import { resourceSchemaTool, webSearchTool } from '../tools/look-up.ts'
import { createFileAccess, type FileAccess } from '../workspace/files/access.ts'
import { createAttempts } from './attempts.ts'
import { createBasePlan } from './base-plan.ts'
import { createEngine } from './engine.ts'
import { createOutputArchive } from './engine-output.ts'
import { type BareRun, type Run, withFallback } from './run.ts'
import { createStatusWriter } from './status.ts'

/** Services that the steps of a run on code share. */
export type Kit = ReturnType<typeof createKit>
/** Services that all steps of one run share. */
export type BareKit = ReturnType<typeof createBareKit>

export function createKit(run: Run) {
  const bare = createBareKit(run)
  const engine = createEngine(run, bare)
  let found: Promise<LastReview | null> | null = null
  const lastReview = () => {
    found ??= withFallback(run, 'the generator cannot look up the last plan', null, () =>
      findLastReview(run.context.sql, run.round),
    )
    return found
  }
  const openFiles = () => createFileAccess(run.context.config, run.workspace)
  return {
    ...bare,
    run,
    engine,
    attempts: createAttempts(run, bare.secrets),
    /** The plan of the code before the session. */
    base: createBasePlan(run, bare.secrets),
    /** Opens the files of the engine root. */
    openFiles,
    survey: createSurvey(run, openFiles),
    /** Finds the last plan of an earlier round of the session; null when there is none. */
    lastReview,
    tools: {
      ...bare.tools,
      editing: () => fileTools(openFiles()).map(refuseMasks),
      inspection: () => inspectionTools(openFiles(), run.workspace),
      providerSchema: () => [resourceSchemaTool(engine.schema)],
      lastPlan: async () => {
        const review = await lastReview()
        return review ? [lastPlanTool(review, (signal) => readReviewDocuments(run.context, review, signal))] : []
      },
    } satisfies ToolBuilders<ToolKind>,
  }
}

export function createBareKit(run: BareRun) {
  const secrets = createSecretRegister(maskedSecretsOf(run.context.config))
  run.eventLog.maskWith((text) => secrets.text(text))
  const llm = run.openModel(run, secrets)
  const trace = run.trace?.masked(secrets)
  // This is checked once, so that the tools stay the same.
  const canSearch = llm.canSearch?.('main') ?? true
  return {
    run,
    secrets: recordPlanCounts(secrets, run),
    /** The session's models. Every message is masked. */
    llm,
    outputs: createOutputArchive(run, secrets),
    status: createStatusWriter({ run, llm, secrets, trace }),
    tools: { webSearch: () => (canSearch ? [webSearchTool(llm, 'main')] : []) },
    /** Absent while tracing is off. */
    trace,
  }
}

/**
 * Returns the words of the user for the writer of a report, masked: those of the round, else those that began the
 * session. The text of an apply round is code's.
 */
export const requestFor = ({ run: { round }, secrets }: Pick<BareKit, 'run' | 'secrets'>): string =>
  secrets.text((round.mode === 'apply' ? '' : round.query.trim()) || round.session.first_query)

/** Notifies of an event of the round. The body must be masked; the query is, since it may hold a typed secret. */
export function notify({ run, secrets }: BareKit, kind: Parameters<typeof notifyOfEvent>[2], body: string) {
  const { context, round } = run
  const session = { ...round.session, first_query: secrets.text(round.session.first_query) }
  return notifyOfEvent(context, session, kind, { round: round.number, body })
}

/** Wraps a secret register so that the counts of every plan it learns from are recorded, if the round is. */
const recordPlanCounts = (secrets: SecretRegister, { recording }: BareRun): SecretRegister =>
  recording
    ? {
        ...secrets,
        learn: async (plan) => {
          recording.addPlan(planCounts(plan))
          await secrets.learn(plan)
        },
      }
    : secrets

/**
 * Makes a tool refuse the masks in arguments: writing one back would lose a value, or write a secret of the request.
 */
const refuseMasks = (tool: Tool): Tool => ({
  ...tool,
  run: (args, signal) => {
    const holds = (mask: string) => Object.values(args).some((one) => typeof one === 'string' && one.includes(mask))
    if (holds(MASKED_SECRET))
      throw new ToolError(
        `The text holds "${MASKED_SECRET}", which stands for a secret that the user typed. A secret does not belong in ` +
          'code: read it from a secret store, let the provider generate it, or declare a sensitive variable without a default.',
      )
    if (holds(MASK))
      throw new ToolError(
        `The text holds "${MASK}", which stands for a value that is hidden from you. Leave the lines with that value ` +
          'as they are: change only other lines, with `replace_in_file`.',
      )
    return tool.run(args, signal)
  },
})

/** Maximum bytes of a file. */
const MAX_BYTES = 128 * 1024
/** Maximum characters of the root's description. */
const MAX_README = 6_000
/** Maximum number of files; those that the engine loads come first. */
const MAX_READ = 300

/** Creates the survey of the engine root for all steps, which is repeated after each commit of an attempt. */
function createSurvey(run: Run, openFiles: () => FileAccess) {
  let last: { head: string; survey: Promise<RepositorySurvey> } | null = null
  const look = async (): Promise<RepositorySurvey> => {
    const head = await run.workspace.head().catch(() => null)
    if (head === null) return await survey(run, openFiles())
    if (last?.head !== head) last = { head, survey: survey(run, openFiles()) }
    return await last.survey
  }
  return {
    /** Looks at the repository as of the branch head; no files, with a logged failure, when it cannot be searched. */
    look,
    /** Returns the files of `look` alone. */
    files: async (): Promise<RepositoryFile[]> => (await look()).files,
  }
}

async function survey(run: Run, access: FileAccess): Promise<RepositorySurvey> {
  const root = run.round.session.workspace.root_path ?? ''
  try {
    const surveyed = await access.survey(run.signal)
    const readable = surveyed.files
      .filter(({ path, bytes }) => (isCode(path) && bytes <= MAX_BYTES) || (isReadme(path) && bytes <= MAX_README))
      .map(({ path }) => path)
    const texts = await access.readAll(readable.slice(0, MAX_READ))
    const files = surveyed.files.map((file) => {
      const text = texts.get(file.path) ?? null
      return { ...file, text, blocks: text === null ? [] : declaredBlocksIn(file.path, text) }
    })
    return { ...surveyed, files, root }
  } catch (error) {
    if (!run.signal.aborted) run.log.warn('the files of the repository could not be looked at', { error })
    return { files: [], beyondLimit: 0, elsewhere: { files: 0, code: 0 }, isWhole: false, root }
  }
}
