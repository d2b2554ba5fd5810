import { readdir, readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { onInterrupt, parseOptions, positive, runCommand, TEXT, UsageError } from '../dev/command.ts'
import { withTemporaryFolder } from '../dev/files.ts'
import { dataFolder } from '../dev/stack/data-folder.ts'
import { type Recording, readRecording } from '../pipeline/kit/recording.ts'
import { CLOUDS } from '../src/base/vocabulary.ts'
import { createReplayLlm, REPLAY_MODELS, type ReplayLlm, startReplayModel } from './replay/answers.ts'
import { playScenario, repositorySlug } from './sample.ts'
import { loadScenarios, MODES, readScenario, type Scenario } from './scenario/scenario.ts'
import { modelVariables, startEvalStack } from './stack.ts'

const HELP = `Plays a recorded round again, without a model, and says whether it ends the same.

Usage: npm run replay -- <recording.jsonl> [options]

  --repo <folder>     content of the repository when the round began
  --scenario <name>   repository and state of this scenario of the evaluation
  --limit <seconds>   give up after this long (default 300)
  --data <dir>        data folder (default .platform/replay)

Without --repo and --scenario the repository is looked up by its address: a sample of the embedded stack, or a scenario.
A recording is made with llm.record_folder in the configuration, or with npm run eval -- --record <folder>. First rounds of
generate, drift and import are played. Exit codes: 0 the same outcome, 1 another one or an error, 2 wrong arguments.`

const OPTIONS = { repo: TEXT, scenario: TEXT, limit: TEXT, data: TEXT } as const

async function scenarioOf({ round }: Recording, given: { repo?: string; scenario?: string }): Promise<Scenario> {
  if (round.round !== 1)
    throw new UsageError(`This is round ${round.round} of its session: only first rounds can be played.`)
  if (round.preview) throw new UsageError('This is a preview: only rounds that change something can be played.')
  const prefix = round.is_partial ? 'partial' : 'full'
  const mode = MODES.find((one) => one === (round.mode === 'generate' ? 'generate' : `${prefix}-${round.mode}`))
  const cloud = CLOUDS.find((one) => one === round.provider)
  if (!mode || !cloud) throw new UsageError(`A round of the mode ${round.mode} cannot be played.`)
  const known = given.repo === undefined ? await knownScenario(round.repository, given.scenario) : null
  const sample = /\/samples\/([\w-]+)\.git$/.exec(round.repository)?.[1]
  const repository =
    given.repo === undefined
      ? (known?.repository ?? (sample === undefined ? null : { sample }))
      : { files: await filesOf(resolve(given.repo)) }
  if (!repository)
    throw new UsageError(
      `The repository ${round.repository} is not known here: name a folder with what it held, --repo <folder>.`,
    )
  const scenario = readScenario('replay/recording', {
    ...{ cloud, mode, repository, request: round.query, iac_path: round.iac_path, scope: round.scope_id },
    expect: { status: 'completed' },
  })
  return { ...scenario, seed: known?.seed }
}

async function knownScenario(repository: string, name: string | undefined): Promise<Scenario | null> {
  const all = await loadScenarios()
  if (name === undefined) {
    const slug = /\/eval\/(.+)-[0-9a-f]{8}\.git$/.exec(repository)?.[1]
    return all.find((scenario) => repositorySlug(scenario.name) === slug) ?? null
  }
  const scenario = all.find((candidate) => candidate.name === name)
  if (!scenario) throw new UsageError(`There is no scenario '${name}'; npm run eval -- --list shows all.`)
  return scenario
}

async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const own = paths.map((path) => relative(folder, path)).filter((path) => !/(^|\/)(\.git|\.terraform)\//.test(path))
  return Object.fromEntries(
    await Promise.all(own.map(async (path) => [path, await readFile(join(folder, path), 'utf8')] as const)),
  )
}

async function replay(file: string, values: { repo?: string; scenario?: string; limit?: string; data?: string }) {
  const limitS = positive('limit', values.limit) ?? 300
  const recording = await readRecording(await readFile(file, 'utf8'))
  const scenario = await scenarioOf(recording, values)
  const interrupted = new AbortController()
  onInterrupt((signal) => interrupted.abort(new Error(`stopped by ${signal}`)))
  const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(limitS * 1000)])
  const llm = await createReplayLlm(recording)
  const model = await startReplayModel(llm)
  try {
    return await withTemporaryFolder(async (records) => {
      const stack = await startEvalStack({
        folder: dataFolder(values.data, '.platform/replay'),
        env: createReplayEnvironment(model.url),
        ...{ scripted: false, concurrency: 1, record_folder: records, signal },
      })
      try {
        await playScenario(stack, scenario, signal)
      } finally {
        // The worker writes its recording after the last status, so the stack must stop before it is read.
        await stack.stop()
      }
      const [name] = await readdir(records)
      if (!name) throw new Error('The round left no recording to compare with.')
      return tell(recording, await readRecording(await readFile(join(records, name), 'utf8')), llm)
    })
  } finally {
    await model.close()
  }
}

/** Removes variables from the shell's environment that would choose another model or configuration. */
function createReplayEnvironment(url: string): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PLATFORM_|OPENAI_|ANTHROPIC_)/.test(name))
  return { ...Object.fromEntries(kept), ...modelVariables(url, REPLAY_MODELS) }
}

function tell({ outcome: recorded }: Recording, { outcome: played }: Recording, llm: ReplayLlm): number {
  const statistics = llm.statistics()
  const parts: [string, unknown, unknown][] = [
    ['end', recorded.end?.status ?? null, played.end?.status ?? null],
    ['statuses', recorded.statuses, played.statuses],
    ['plans', recorded.plans, played.plans],
  ]
  const other = parts.filter(([, a, b]) => JSON.stringify(a) !== JSON.stringify(b))
  console.log(
    `${statistics.calls} calls answered from the recording, ${statistics.byPosition} of them by their position only, ` +
      `${statistics.unused} not asked for`,
  )
  for (const text of statistics.missed) console.log(text)
  for (const [what, a, b] of other)
    console.log(`${what}\n  recorded: ${JSON.stringify(a)}\n  played:   ${JSON.stringify(b)}`)
  if (other.length > 0) console.log(`last message: ${played.end?.message ?? 'none'}`)
  console.log(other.length === 0 ? `the same outcome: ${recorded.end?.status ?? 'no end'}` : 'another outcome')
  return other.length === 0 ? 0 : 1
}

process.exit(
  await runCommand('npm run replay', HELP, async (args) => {
    const { values, positionals } = parseOptions(args, OPTIONS, { allowPositionals: true })
    if (values.help) return null
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0) throw new UsageError('Name one recording.')
    return await replay(file, values)
  }),
)
