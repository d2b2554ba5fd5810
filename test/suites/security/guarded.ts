import { expect } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { type Json, SCOPE, startTestService, type TestService } from '../../sidecars/iac/service.ts'
import { attack } from './attack.ts'

/** Starts a service with its check as only defence: without a sandbox, and with programs of the host refused. */
export const startGuarded = (env: Record<string, string> = {}): Promise<TestService> =>
  startTestService({ IAC_SANDBOX: 'none', ...env })

export interface Hostile {
  files?: Record<string, string>
  /** Makes changes that files alone cannot express, such as links. */
  prepare?: (workspace: string) => Promise<void>
  /** Folder of the workspace inside the repository. */
  root?: string
  kinds?: readonly ('init' | 'plan' | 'validate' | 'import/state-resource-ids')[]
}

/** The engine's own file that a plan leaves behind. */
const BODIES: Record<string, object> = {
  init: SCOPE,
  plan: { ...SCOPE, plan_file: 'session.plan' },
  validate: {},
  'import/state-resource-ids': {},
}

/** Submits the jobs of a hostile repository. Returns the service's answer to each of them. */
export async function submitHostile(service: TestService, hostile: Hostile): Promise<Json[]> {
  const folder = await service.workspace({ '.platform-workspace': '', ...hostile.files })
  await hostile.prepare?.(folder)
  const workspace_path = hostile.root === undefined ? folder : `${folder}/${hostile.root}`
  const answers: Json[] = []
  for (const kind of hostile.kinds ?? ['init', 'plan'])
    answers.push(await service.run(`/v1/${kind}`, { workspace_path, ...BODIES[kind] }))
  return answers
}

/** Provides a service for the attacks of a file. */
export function provideGuarded() {
  const service = startOnce(startGuarded)

  /**
   * Registers an attack that the check refuses in every job before the engine starts, naming all of `texts`.
   * @param hostile a repository, or the text of its `main.tf`
   */
  function refused(group: string, title: string, hostile: Hostile | string, ...texts: string[]): void {
    attack(group, title, async () => {
      const repository = typeof hostile === 'string' ? { files: { 'main.tf': hostile } } : hostile
      const answers = await submitHostile(service, repository)
      let told = ''
      for (const { status, result } of answers) {
        expect({ status, exit_code: result?.exit_code, stdout: result?.stdout }).toEqual({
          status: 'succeeded',
          exit_code: 1,
          stdout: '',
        })
        told = result.stderr
        // The engine draws its diagnostics in boxes; the check does not.
        expect(told).toMatch(/^Error: /)
        expect(told).toMatch(/refused|could not be checked|too large/)
        for (const text of texts) expect(told).toContain(text)
      }
      return told.split('\n').find((line) => line.startsWith('  on ')) ?? told.slice(0, 80)
    })
  }

  return { service, refused }
}
