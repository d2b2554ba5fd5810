import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openControlGroups, prlimitArguments } from '../../../../sidecars/iac/sandbox/resources.ts'
import { temporaryFolder } from '../service.ts'

const LIMITS = { memoryBytes: 1024 ** 3, processes: 100, fileBytes: 2048 }

/** Makes folders as the kernel shows them, with these files in the service's own. */
async function groupsOf(membership: string, files: Record<string, string>) {
  const root = await temporaryFolder()
  const self = join(root, 'self')
  await writeFile(self, membership)
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(root, path, '..'), { recursive: true })
    await writeFile(join(root, path), content)
  }
  return { root, groups: await openControlGroups(root, self) }
}
const read = (...path: string[]) => readFile(join(...path), 'utf8')

it('limits of a process are memory that it may write to, files, processes and no core', () => {
  expect(prlimitArguments(LIMITS)).toEqual([
    '--data=1073741824',
    '--fsize=2048',
    '--nproc=100',
    '--nofile=16384',
    '--core=0',
  ])
})

describe('control groups of version 2', () => {
  const FILES = {
    'slice/cgroup.controllers': 'cpu memory pids\n',
    'slice/cgroup.subtree_control': '',
    'slice/service/cgroup.procs': '',
  }

  it('are made below the one of the service, which moves into a leaf', async () => {
    const { root, groups } = await groupsOf('0::/slice\n', FILES)
    const group = await groups?.create('job', LIMITS)
    const folder = join(root, 'slice', `platform-engine-${process.pid}-job`)
    expect(await read(root, 'slice/service/cgroup.procs')).toBe(String(process.pid))
    expect(await read(root, 'slice/cgroup.subtree_control')).toBe('+memory +pids')
    expect(await read(folder, 'memory.max')).toBe('1073741824')
    expect(await read(folder, 'pids.max')).toBe('100')
    expect(group?.entries).toEqual([join(folder, 'cgroup.procs')])
    expect(await group?.ranOutOfMemory()).toBe(false)
    await writeFile(join(folder, 'memory.events'), 'low 0\noom 1\noom_kill 1\n')
    expect(await group?.ranOutOfMemory()).toBe(true)
  })

  it('need the controllers of memory and processes', async () => {
    const { groups } = await groupsOf('0::/slice\n', { ...FILES, 'slice/cgroup.controllers': 'cpu pids\n' })
    expect(groups).toBeNull()
  })
})

describe('control groups of version 1', () => {
  it('are made in the hierarchies of memory and of processes', async () => {
    const { root, groups } = await groupsOf('9:pids:/a\n4:memory:/b\n0::/\n', {
      'pids/a/cgroup.procs': '',
      'memory/b/cgroup.procs': '',
    })
    const group = await groups?.create('job', LIMITS)
    expect(await read(root, `memory/b/platform-engine-${process.pid}-job/memory.limit_in_bytes`)).toBe('1073741824')
    expect(await read(root, `pids/a/platform-engine-${process.pid}-job/pids.max`)).toBe('100')
    expect(group?.entries).toHaveLength(2)
  })

  it('are not there on a machine that has none', async () => {
    expect((await groupsOf('', {})).groups).toBeNull()
  })
})
