import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../../src/base/log.ts'
import { fileNames } from '../engine/command.ts'
import { readPlain } from '../limits/workspace.ts'
import { writeOutput } from '../output/files.ts'
import { commandLimits, type Executor, NO_ACCESS } from '../sandbox/executor.ts'
import type { IacSettings } from '../settings.ts'
import type { Engine, GivenText, JobRecord } from '../types.ts'
import type { Supervision } from './service.ts'
import type { JobStore } from './store.ts'

/** Returns the folder of files being formatted. Remains of a crash can be removed at any start. */
export const formatFolder = (dataDir: string): string => join(dataDir, 'format')

/** Exit code of the engine when it could not parse some files; it has formatted the others. */
const SYNTAX_ERRORS = 2
/** Limit of a formatted file. One that grew beyond it is a fault, and its text stays. */
const MAX_BYTES = 16 * 1024 * 1024

/** Formats texts with one engine process in a private folder, without credentials; returns its exit code. */
export async function runFormatJob(
  options: {
    settings: IacSettings
    engine: Engine
    executor: Executor
    env: Record<string, string | undefined>
    store: JobStore
    log: Logger
  },
  { job_id }: JobRecord,
  { args, texts }: { args: string[]; texts: readonly GivenText[] },
  supervision: Supervision,
): Promise<number> {
  const { settings, engine, executor, env, store, log } = options
  const parent = formatFolder(settings.dataDir)
  const folder = join(parent, job_id)
  const output = store.output(job_id)
  const started = performance.now()
  await mkdir(parent, { recursive: true, mode: 0o700 })
  await mkdir(folder, { mode: 0o700 })
  try {
    const paths = fileNames(texts).map((name) => join(folder, name))
    for (const [index, { text }] of texts.entries()) await writeFile(paths[index] as string, text, { flag: 'wx' })
    const exitCode = await executor.run(
      {
        name: job_id,
        binary: engine.binary,
        args,
        cwd: folder,
        env: { PATH: env.PATH, HOME: folder, TF_IN_AUTOMATION: '1', CHECKPOINT_DISABLE: '1' },
        ...output,
        timeoutMs: Math.min(settings.jobTimeoutSeconds, 60) * 1000,
        ...commandLimits(settings),
        savesState: false,
        reachesNetwork: false,
        ...supervision,
      },
      NO_ACCESS,
    )
    const duration_ms = Math.round(performance.now() - started)
    log.info('texts formatted', { job_id, texts: texts.length, exit_code: exitCode, duration_ms })
    if (exitCode !== 0 && exitCode !== SYNTAX_ERRORS) return exitCode
    // A text stays as it is when the engine left no plain file of a likely size.
    const read = await Promise.all(paths.map((path) => readPlain(path, MAX_BYTES)))
    const formatted = texts.map(({ text }, index) => read[index]?.toString('utf8') ?? text)
    return await writeOutput(output, 0, JSON.stringify({ texts: formatted }), '')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
