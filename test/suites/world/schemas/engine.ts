import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** An engine as the checks use it: in a folder, with the providers of the mirror. */
export interface Engine {
  program: string
  /** Configuration that takes providers from the mirror alone. */
  config: string
}

/** A place in the code, as `validate -json` gives it. */
export interface EngineFinding {
  severity: 'error' | 'warning'
  summary: string
  detail: string
  address?: string
  range?: { filename: string; start: { line: number } }
}

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

/** Runs the engine in a folder; the answer of a command that fails is one too. */
export async function runEngine({ program, config }: Engine, folder: string, args: string[]): Promise<Ran> {
  const env = { ...process.env, TF_CLI_CONFIG_FILE: config, TF_IN_AUTOMATION: '1', CHECKPOINT_DISABLE: '1' }
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, {
      cwd: folder,
      env,
      maxBuffer: 512 * 1024 * 1024,
    })
    return { code: 0, stdout, stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string }
    if (typeof code !== 'number') throw error
    return { code, stdout: stdout ?? '', stderr: stderr ?? '' }
  }
}

/**
 * Installs the providers that the code of a folder names.
 * @throws Error with what the engine says
 */
export async function initialise(engine: Engine, folder: string): Promise<void> {
  const { code, stderr } = await runEngine(engine, folder, ['init', '-backend=false', '-input=false', '-no-color'])
  if (code !== 0) throw new Error(stderr)
}

/** Diagnostics of the engine and the providers for the code of an initialised folder. */
export async function validate(engine: Engine, folder: string): Promise<EngineFinding[]> {
  const { stdout, stderr } = await runEngine(engine, folder, ['validate', '-json', '-no-color'])
  try {
    return (JSON.parse(stdout) as { diagnostics: EngineFinding[] }).diagnostics
  } catch {
    throw new Error(`validate answered no JSON: ${stderr || stdout}`)
  }
}
