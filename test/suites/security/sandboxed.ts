import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Json, SCOPE, startTestService, type TestService } from '../../sidecars/iac/service.ts'
import { attack } from './attack.ts'

/** Variables of a sidecar that does not start without the whole sandbox. */
export const BOXED = { IAC_SANDBOX: 'required' }

const unless = await startTestService(BOXED).then(
  async (service) => {
    await service.close()
    return null
  },
  (error: unknown) => (error instanceof Error ? error.message : 'the sidecar does not start'),
)
/** True if this machine has a sandbox with its own network. */
export const HAS_SANDBOX = unless === null

/** Registers an attack on the sandbox, which a machine without one does not carry out. */
export const attackSandbox = (group: string, title: string, body: () => Promise<string>): void =>
  attack(group, title, body, { unless })

/** Registers an attack on the sandbox of a service of its own, whose guard against programs is switched off. */
export const attackService = (
  group: string,
  title: string,
  env: Record<string, string>,
  body: (service: TestService) => Promise<string>,
): void =>
  attackSandbox(group, title, async () => {
    const service = await startTestService({ ...BOXED, IAC_ALLOW_HOST_PROGRAMS: 'true', ...env })
    return await body(service).finally(() => service.close())
  })

/**
 * Runs a shell script where a program of a repository would run: as a provisioner, inside the sandbox of an apply, with
 * the guard switched off (`IAC_ALLOW_HOST_PROGRAMS`).
 * @returns the output of the script, and the job of the apply
 */
export async function runHostile(
  service: TestService,
  script: string,
  options: { workspace?: string; scope?: object } = {},
): Promise<{ output: string; apply: Json; workspace: string }> {
  const workspace = options.workspace ?? (await service.workspace())
  await mkdir(workspace, { recursive: true })
  await writeFile(join(workspace, 'main.tf'), PROGRAM)
  await writeFile(join(workspace, 'hostile.sh'), script)
  const scope = options.scope ?? SCOPE
  for (const [path, body] of [
    ['/v1/init', scope],
    ['/v1/plan', { ...scope, plan_file: 'session.plan' }],
  ] as const) {
    const job = await service.run(path, { workspace_path: workspace, ...body })
    if (job.result?.exit_code !== 0) throw new Error(`${path}: ${JSON.stringify(job.result ?? job.error)}`)
  }
  const apply = await service.run('/v1/apply', { workspace_path: workspace, ...scope, plan_file: 'session.plan' })
  const stdout: string = apply.result?.stdout ?? ''
  const lines = stdout.split('\n').filter((line) => line.startsWith('terraform_data.hostile (local-exec): '))
  return { output: lines.map((line) => line.slice(line.indexOf('): ') + 3)).join('\n'), apply, workspace }
}

const PROGRAM = `resource "terraform_data" "hostile" {
  provisioner "local-exec" {
    command = "sh ./hostile.sh 2>&1"
  }
}
`
