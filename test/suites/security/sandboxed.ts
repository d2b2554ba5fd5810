import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Json, SCOPE, startTestService, type TestService } from '../../sidecars/iac/service.ts'

/** Variables of a sidecar that does not start without the whole sandbox. */
export const BOXED = { IAC_SANDBOX: 'required' }

/** Returns the reason why this machine has no sandbox with its own network; null if it has one. */
export async function reasonAgainstSandbox(): Promise<string | null> {
  try {
    const service = await startTestService(BOXED)
    await service.close()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : 'the sidecar does not start'
  }
}

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
