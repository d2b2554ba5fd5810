import { mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { savePlan, sealPlan } from '../../../../pipeline/steps/generate/save-plan.ts'
import { hashFile } from '../../../../pipeline/workspace/files/private-files.ts'
import { LeaseLost, unavailable } from '../../../../src/base/errors.ts'
import { claimForRun } from '../../../../src/rounds/claim.ts'
import { findSavedPlan } from '../../../../src/saved-plans/saved-plan.ts'
import { useFolder } from '../../../helpers/folder.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { lapseLease } from '../../../sessions/fixtures.ts'
import { createSteps, type StepWorld, validPlan } from '../support.ts'

const steps = startOnce(createSteps)
const folder = useFolder()
let root: string
beforeEach(async () => {
  root = join(folder.path, crypto.randomUUID())
  await mkdir(root)
})

const KEY = 'a key of at least thirty-two characters'

/** Makes a world whose workspace is a real directory with a plan file, and its plan. */
async function planned(pin_key = '', changes: Parameters<typeof validPlan>[1] = []) {
  const world = await steps.world()
  Object.assign(world.workspace, { clone: root, iacRoot: root })
  const { config } = world.run.context
  world.run.context.config = { ...config, worker: { ...config.worker, pin_key } }
  await writeFile(join(root, 'session.plan'), 'a plan')
  const valid = validPlan(world, changes)
  valid.reference.plan_sha256 = await hashFile(join(root, 'session.plan'))
  return { world, valid }
}
const pinOf = ({ run }: StepWorld) => findSavedPlan(run.context.sql, run.round.session.id)

describe('savePlan', () => {
  it('seals the plan of the code as it stands: hash, commit, targets, changes, project', async () => {
    const { world, valid } = await planned('', [{ address: 'a.b', type: 'a', actions: ['delete', 'create'] }])
    valid.reference.targets = ['a.b', 'weird."quoted",{target}']
    await savePlan(world.kit, valid)
    expect(world.workspace.kept).toBe(true)
    const pin = await pinOf(world)
    expect(pin?.plan).toMatchObject({
      round_id: world.run.round.id,
      plan_sha256: valid.reference.plan_sha256,
      commit: 'commit-0',
      targets: ['a.b', 'weird."quoted",{target}'],
      changes: [{ address: 'a.b', type: 'a', action: 'replace' }],
      engine: null,
      state: null,
      archive_key: null,
    })
    expect(pin?.plan.workspace_sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(pin?.plan.project_id).toMatch(/^[0-9a-f]{64}$/)
    // The round has not completed yet, so nothing may be applied.
    expect(pin?.reviewed).toBe(false)
  })

  it('takes the hash that was made before, unless there is more to mask by now or the plan is another one', async () => {
    const { world, valid } = await planned()
    const hashOf = async (seal: Awaited<ReturnType<typeof sealPlan>>, plan = valid) => {
      await savePlan(world.kit, plan, seal)
      return (await pinOf(world))?.plan.workspace_sha256
    }
    const seal = await sealPlan(world.kit, valid)
    const known = seal && { ...seal, workspace_sha256: 'f'.repeat(64) }
    expect(await hashOf(known)).toBe('f'.repeat(64))
    expect(await hashOf(known, { ...valid })).toBe(seal?.workspace_sha256)
    world.kit.secrets.add(['learned-secret-2'])
    const anew = await hashOf(known)
    expect(anew).not.toBe('f'.repeat(64))
    expect(anew).not.toBe(seal?.workspace_sha256)
  })

  it('does without a hash that cannot be made before, and fails then', async () => {
    const { world, valid } = await planned()
    Object.assign(world.workspace, { clone: join(root, 'gone') })
    expect(await sealPlan(world.kit, valid)).toBeNull()
    await expect(savePlan(world.kit, valid, null)).rejects.toThrow('ENOENT')
  })

  it('names the engine that made the plan, and does without when it is not told', async () => {
    const { world, valid } = await planned()
    world.run.context.iac.engine = async () => ({ name: 'OpenTofu', version: '1.10.6' })
    await savePlan(world.kit, valid)
    expect((await pinOf(world))?.plan.engine).toEqual({ name: 'OpenTofu', version: '1.10.6' })
    world.run.context.iac.engine = async () => Promise.reject(unavailable('iac service unreachable'))
    await savePlan(world.kit, valid)
    expect((await pinOf(world))?.plan.engine).toBeNull()
  })

  it('keeps what has to be masked beside the plan, readable by this user alone, and no secret of the platform', async () => {
    const { world, valid } = await planned()
    world.kit.secrets.add(['learned-secret-1'])
    await symlink(join(folder.path, 'elsewhere'), join(root, '.platform-masks.json'))
    await savePlan(world.kit, valid)
    const path = join(root, '.platform-masks.json')
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(['learned-secret-1'])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await expect(readFile(join(folder.path, 'elsewhere'))).rejects.toThrow('ENOENT')
  })

  it.each([
    ['the code moved on', ({ workspace }: StepWorld) => Object.assign(workspace, { current_revision: 'another' })],
    ['the plan file is another one', () => writeFile(join(root, 'session.plan'), 'another plan')],
    ['the plan file is gone', () => rm(join(root, 'session.plan'))],
    [
      'the plan file is a link',
      async () => {
        await writeFile(join(root, 'real.plan'), 'a plan')
        await rm(join(root, 'session.plan'))
        await symlink('real.plan', join(root, 'session.plan'))
      },
    ],
  ])('refuses when %s', async (_, change: (world: StepWorld) => unknown) => {
    const { world, valid } = await planned()
    await change(world)
    await expect(savePlan(world.kit, valid)).rejects.toThrow('does not belong to the code')
    expect(world.workspace.kept).toBe(false)
    expect(await pinOf(world)).toBeNull()
  })

  it('pins without a seal when the iac service never wrote a plan file here, and takes the earlier seal away', async () => {
    const { world, valid } = await planned()
    await savePlan(world.kit, valid)
    expect(await pinOf(world)).not.toBeNull()
    await rm(join(root, 'session.plan'))
    valid.reference.plan_sha256 = null
    world.workspace.kept = false
    await savePlan(world.kit, valid)
    expect(world.workspace.kept).toBe(true)
    expect(await pinOf(world)).toBeNull()
  })

  it('neither seals nor moves anything once another worker has the round', async () => {
    const { world, valid } = await planned(KEY)
    await lapseLease(steps.database.sql, world.run.round.id)
    await claimForRun(steps.database.sql, world.run.round.id)
    await expect(savePlan(world.kit, valid)).rejects.toThrow(LeaseLost)
    expect(world.workspace.kept).toBe(false)
    expect(await pinOf(world)).toBeNull()
    expect(world.objects.size).toBe(0)
  })
})

describe('the stored copy of a pin', () => {
  it('is uploaded encrypted, and replaces the one before', async () => {
    const { world, valid } = await planned(KEY)
    await writeFile(join(root, 'main.tf'), 'password = "in clear"')
    await savePlan(world.kit, valid)
    const first = (await pinOf(world))?.plan.archive_key
    const { uuid } = world.run.round.session
    expect(first).toMatch(new RegExp(`^sessions/${uuid}/saved-plans/${world.run.round.id}-[0-9a-f]{8}\\.plan$`))
    expect(JSON.stringify([...world.objects.values()])).not.toContain('in clear')
    await savePlan(world.kit, valid)
    const second = (await pinOf(world))?.plan.archive_key
    expect(second).not.toBe(first)
    expect([...world.objects.keys()]).toEqual([second])
  })

  it('is not needed: the pin stands when the object store refuses', async () => {
    const { world, valid } = await planned(KEY)
    world.run.context.storage.put = async () => Promise.reject(unavailable('The object store cannot be reached.'))
    await savePlan(world.kit, valid)
    expect(world.workspace.kept).toBe(true)
    expect((await pinOf(world))?.plan.archive_key).toBeNull()
  })
})
