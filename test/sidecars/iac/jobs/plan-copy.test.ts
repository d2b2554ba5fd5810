import { createHash } from 'node:crypto'
import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { planFolder, takePlan } from '../../../../sidecars/iac/jobs/plan-copy.ts'
import { temporaryFolder, temporaryFolderWith } from '../service.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

async function folders(plan = 'reviewed') {
  const workspace_path = await temporaryFolderWith({ 'session.plan': plan })
  return { dataDir: await temporaryFolder(), request: { workspace_path, plan_file: 'session.plan' } }
}
const copies = (dataDir: string) => readdir(planFolder(dataDir)).catch(() => [])

describe('the plan file of a job', () => {
  it('is copied to a private folder when its hash is the expected one, and the copy goes with the job', async () => {
    const { dataDir, request } = await folders()
    const taken = await takePlan(dataDir, 'job-1', { ...request, plan_sha256: sha256('reviewed') })
    const path = join(dataDir, 'plans', 'job-1')
    expect(taken).toMatchObject({ path, refusal: null, request: { ...request, plan_file: path } })
    await writeFile(join(request.workspace_path, 'session.plan'), 'exchanged')
    expect(await readFile(path, 'utf8')).toBe('reviewed')
    expect((await stat(path)).mode & 0o777).toBe(0o444)
    expect((await stat(planFolder(dataDir))).mode & 0o777).toBe(0o700)
    await taken.remove()
    expect(await copies(dataDir)).toEqual([])
  })

  it('is refused when its hash is another one, or when there is none, and nothing is left', async () => {
    const { dataDir, request } = await folders()
    const taken = await takePlan(dataDir, 'job-1', { ...request, plan_sha256: sha256('another') })
    expect(taken).toMatchObject({ path: null, request: { plan_file: 'session.plan' } })
    expect(taken.refusal).toBe(
      'Error: Plan file refused\n\n  on session.plan\n\nIt is not the plan that was reviewed: ' +
        'its SHA-256 is another one than the request names. Nothing was applied. Plan again, review the plan and apply it then.\n',
    )
    const missing = await takePlan(dataDir, 'job-1', { ...request, plan_file: 'no.plan', plan_sha256: sha256('x') })
    expect(missing.refusal).toContain('It is missing, or no regular file.')
    expect(await copies(dataDir)).toEqual([])
  })

  it('is refused when it is too large for a copy, before the disk is full of it', async () => {
    const { dataDir, request } = await folders()
    await truncate(join(request.workspace_path, 'session.plan'), 1024 ** 3 + 1)
    const taken = await takePlan(dataDir, 'job-1', { ...request, plan_sha256: sha256('x') })
    expect(taken.refusal).toContain('It is larger than 1024 MiB.')
    expect(await copies(dataDir)).toEqual([])
  })

  it('stays where it is when the request names no hash', async () => {
    const { dataDir, request } = await folders()
    expect(await takePlan(dataDir, 'job-1', request)).toMatchObject({ request, path: null, refusal: null })
    expect(await copies(dataDir)).toEqual([])
  })
})
